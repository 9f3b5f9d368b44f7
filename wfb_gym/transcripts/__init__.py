"""Transcripts: record a battle, write it to a file, and replay it.

`narrated_battle` plays a battle and describes each step using `wfb_gym.view.events`. `recording`
plays two players against each other. `transcript` reads, writes and replays files. `position_ids`
and `game_lines` write positions and transcripts as short texts. The rules are in the engine.
"""

from wfb_gym.transcripts.game_lines import game_line, transcript_from_line
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.position_ids import SharedPosition, position_from_id, position_id
from wfb_gym.transcripts.recording import record
from wfb_gym.transcripts.text_codes import TextCodeError
from wfb_gym.transcripts.transcript import Transcript, TranscriptError, read, replay, write
from wfb_gym.view.events import Event

__all__ = [
    "Event",
    "NarratedBattle",
    "SharedPosition",
    "TextCodeError",
    "Transcript",
    "TranscriptError",
    "game_line",
    "position_from_id",
    "position_id",
    "read",
    "record",
    "replay",
    "transcript_from_line",
    "write",
]
