"""What happened in a battle: told in words, written down, and played again.

`events` has what is told, `telling` a battle that tells it as it is played, `recorder` the steps of
an environment, `format` the file. No rule is here: everything goes through the engine.
"""

from wfb_gym.transcripts.events import Event, told
from wfb_gym.transcripts.format import Transcript, read, write
from wfb_gym.transcripts.lines import TranscriptError
from wfb_gym.transcripts.playing import record
from wfb_gym.transcripts.replaying import replay
from wfb_gym.transcripts.telling import Telling

__all__ = [
    "Event",
    "Telling",
    "Transcript",
    "TranscriptError",
    "read",
    "record",
    "replay",
    "told",
    "write",
]
