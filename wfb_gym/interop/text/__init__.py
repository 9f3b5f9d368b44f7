"""Battles as text for language models: observations, replies, and exact regrets.

`TextGame` plays a battle by text. `parse_reply` finds the action in a reply. `text_player` makes a
registered player speak the same way. This package needs no extra, and adapters to libraries for
language models are built on it.
"""

from wfb_gym.interop.text.game import SeatResult, StepInfo, TextGame, TextPlayer, text_player
from wfb_gym.interop.text.grading import RegretGrader
from wfb_gym.interop.text.replies import (
    IllegalAction,
    LegalAction,
    ParseFailure,
    ReplyError,
    parse_reply,
)
from wfb_gym.interop.text.seat_view import SeatView

__all__ = [
    "IllegalAction",
    "LegalAction",
    "ParseFailure",
    "RegretGrader",
    "ReplyError",
    "SeatResult",
    "SeatView",
    "StepInfo",
    "TextGame",
    "TextPlayer",
    "parse_reply",
    "text_player",
]
