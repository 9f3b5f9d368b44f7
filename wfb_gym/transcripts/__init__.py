"""Transcripts: record a battle, write it to a file, and replay it.

`narrated_battle` plays a battle and describes each step using `wfb_gym.view.events`. `recording`
plays two players against each other. `transcript` reads, writes and replays files. The rules are in
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
