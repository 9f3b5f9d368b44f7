"""What happened in a battle: described, written down, and played again.

`narrator` plays a battle and describes each step, with the sentences of `decisions`, `rolls` and
`changes`; `recording` lets two players play one; `transcript` has the file and its replay. No rule
is here: everything goes through the engine.
"""

from wfb_gym.transcripts.narrator import Event, NarratedBattle
from wfb_gym.transcripts.recording import record
from wfb_gym.transcripts.transcript import Transcript, TranscriptError, read, replay, write

__all__ = [
    "Event",
    "NarratedBattle",
    "Transcript",
    "TranscriptError",
    "read",
    "record",
    "replay",
    "write",
]
