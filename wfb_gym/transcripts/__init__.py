"""What happened in a battle: described, written down, and played again.

`narrator` plays a battle and describes each step by `wfb_gym.view.events`; `recording` lets two
players play one; `transcript` has the file and its replay. No rule is here: everything goes through
the engine.
"""

from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.recording import record
from wfb_gym.transcripts.transcript import Transcript, TranscriptError, read, replay, write
from wfb_gym.view.events import Event

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
