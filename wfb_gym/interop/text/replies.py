"""Replies of language models: find the action that a reply names.

A reply names exactly one action, by its index or its label, in one of two forms:

- in square brackets, such as ``I choose [47]`` or ``[cast Fire Ball]``;
- in a JSON object, such as ``{"move": 47}``, in a fenced block or without a fence.

The same action may be repeated. Reasoning in ``<think>`` tags is ignored. Reading takes time
proportional to the reply's length, for any content.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from wfb_gym.suggestions import plain
from wfb_gym.view.choices import find_choices

MAX_REPLY = 1_000_000  # maximum length of a reply, in characters
_MAX_NAME = 300  # maximum length of an action's name in a reply, in characters
_MOST_NAMES, _MOST_LISTED = 8, 3
"""Maximum number of ways in which a reply may write its action, and of names in a reason."""
_LEAST_PART = 3  # minimum number of letters in a part of a label
_SHOWN = 60
_LEAST_INDEX, _MOST_INDEX = -999_999, 999_999
_NOT_LEGAL, _OTHER_TYPE = -1, "a value that is no number or text"
_THINK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BRACKETS = re.compile(r"(?<!\\)\[([^\[\]]*)\]")
_ESCAPED = re.compile(r"\\\[([^\[\]]*)\]")
_FENCE = re.compile(r"```|~~~")
_LANGUAGE = re.compile(r"\s*[\w+-]{0,20}\s*")
_INDEX = re.compile(
    r"(?:(?:legal )?(?:action|move|choice|option|index|number|no\.?)\s*)?[:#=]?\s*([+-]?\d{1,6})",
    re.IGNORECASE,
)
_INDEX_AND_LABEL = re.compile(r"([+-]?\d{1,6})\s*[:.)|=\u2013\u2014-]*\s*(\S.*)", re.DOTALL)
_KIND = re.compile(r"(?:action|move|choice|option|answer)\s*[:=]\s*", re.IGNORECASE)
_MARKS = " \t\r\n*_`'\"\u2018\u2019\u201c\u201d\\"
"""Characters around an action's name that are ignored: spaces, quotes and Markdown."""


class ReplyError(ValueError):
    """A reply from which no action can be played; the message is the reason."""

    kind = "reply"
    """The kind of error, in words."""


class ParseFailure(ReplyError):  # noqa: N818 - the term of the benchmarks for language models
    """The reply does not name exactly one action in an accepted form."""

    kind = "parse failure"


class IllegalAction(ReplyError):  # noqa: N818 - as in `info["illegal_action"]`
    """The reply names an action that is not legal in the position."""

    kind = "illegal action"


@dataclass(frozen=True)
class LegalAction:
    """A legal action.

    Attributes:
        index: its index in the seat's action space, as in the Gymnasium environments.
        label: a short label, unique among the legal actions.
        note: points and effect, or "" if there is nothing to add.
        chance: the chance of success of the dice, or None if the action throws none.
        short: a shorter name, such as the name of a spell, or the label.
    """

    index: int
    label: str
    note: str = ""
    chance: float | None = None
    short: str = ""

    @property
    def text(self) -> str:
        """The label with the chance and the note, as in an observation."""
        chance = "" if self.chance is None else f", succeeds with {self.chance:.1%}"
        return f"{self.label}{chance}{f' ({self.note})' if self.note else ''}"


def parse_reply(reply: Any, actions: Sequence[LegalAction], meanings: Collection[str] = ()) -> int:
    """Return the index of the legal action that a reply names.

    Args:
        reply: the reply, a text of any length and content.
        actions: the legal actions.
        meanings: labels of all actions in the action space. A label of another action is an
            illegal action, not a parse failure.

    Raises:
        ParseFailure: if the reply does not name exactly one action in an accepted form.
        IllegalAction: if it names an action that is not legal.
    """
    if not isinstance(reply, str):
        raise ParseFailure(f"expected a text, found {type(reply).__name__}")
    if len(reply) > MAX_REPLY:
        raise ParseFailure(f"expected at most {MAX_REPLY:,} characters, found {len(reply):,}")
    text, is_cut = _without_reasoning(reply)
    text, moves = _json_moves(text)
    names = [*moves, *(_BRACKETS.findall(text) or _ESCAPED.findall(text))]
    if not names:
        where = " after the reasoning" if is_cut else ""
        raise ParseFailure(f"expected one action in square brackets{where}, found none")
    distinct = list(dict.fromkeys(map(_cleaned, names)))
    legal = {action.index for action in actions}
    found: dict[int | str, str] = {}
    for name in distinct[:_MOST_NAMES]:
        index = _find(name, actions, meanings)
        found.setdefault(index if index in legal else name, name)
    if len(found) > 1 or len(distinct) > _MOST_NAMES:
        listed = " and ".join(f"[{_shown(each)}]" for each in [*found.values()][:_MOST_LISTED])
        raise ParseFailure(f"expected one action, found {listed}")
    if index is None:
        raise ParseFailure(f"expected the number or label of an action, found [{_shown(name)}]")
    if index not in legal:
        raise IllegalAction(f"[{_shown(name)}] is not one of the legal actions")
    return index


def _without_reasoning(reply: str) -> tuple[str, bool]:
    """Return a reply without its blocks of reasoning, and whether it had any.

    A block without an opening tag starts with the reply, and one without a closing tag ends with
    it.
    """
    parts, start, depth, found = list[str](), 0, 0, False
    for tag in _THINK.finditer(reply):
        found = True
        if tag[1]:
            if not depth:
                parts.clear()
            depth = max(0, depth - 1)
        else:
            if not depth:
                parts.append(reply[start : tag.start()])
            depth += 1
        start = tag.end()
    if not depth:
        parts.append(reply[start:])
    return " ".join(parts), found


def _json_moves(text: str) -> tuple[str, list[str]]:
    """Return a text without its JSON objects that have a move, and their moves."""
    outside, moves = [], list[str]()
    for k, part in enumerate(_FENCE.split(text)):
        is_fenced = k % 2 == 1
        opened = _LANGUAGE.match(part)
        content = part[opened.end() :] if is_fenced and opened else part
        found = _moves_of(content.strip()) if is_fenced and content.startswith("{") else []
        if not found:
            outside.append(part)
        moves += found
    rest = "\n".join(outside)
    first, last = rest.find("{"), rest.rfind("}")
    if 0 <= first < last:
        found = _moves_of(rest[first : last + 1])
        if found:
            moves += found
            rest = f"{rest[:first]} {rest[last + 1 :]}"
    return rest, moves


def _moves_of(text: str) -> list[str]:
    """Return the moves in a JSON object as texts, also if a key is repeated; [] if none."""
    try:
        document = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return []
    if not isinstance(document, tuple):
        return []
    return [_move_text(move) for key, move in document if key.strip().casefold() == "move"]


def _move_text(move: Any) -> str:
    """Return a move in JSON as text."""
    if isinstance(move, str):
        return move
    if isinstance(move, bool) or not isinstance(move, int | float) or move != move // 1:
        return _OTHER_TYPE
    # Limit the number of digits: no index has more, and Python does not print huge numbers.
    return f"{max(_LEAST_INDEX, min(move, _MOST_INDEX)):.0f}"


def _cleaned(name: str) -> str:
    """Return the name of an action without quotes, Markdown and outer brackets."""
    name = unicodedata.normalize("NFKC", name[: _MAX_NAME + 1]).strip(_MARKS)
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1].strip(_MARKS)
    kind = _KIND.match(name)
    return name[kind.end() :].strip(_MARKS) if kind else name


def _find(name: str, actions: Sequence[LegalAction], meanings: Collection[str]) -> int | None:
    """Return the index that a name refers to, `_NOT_LEGAL` for another label, or None."""
    if len(name) > _MAX_NAME:
        return None
    if number := _INDEX.fullmatch(name):
        return int(number[1])
    index = _find_label(name, actions)
    if index is not None:
        return index
    if find_choices(dict(enumerate(meanings)), {}, name):
        return _NOT_LEGAL
    both = _INDEX_AND_LABEL.fullmatch(name)
    if both is None:
        return None
    index, by_label = int(both[1]), _find_label(both[2], actions)
    if by_label is None:
        return None if index in {action.index for action in actions} else index
    if by_label != index:
        raise ParseFailure(f"expected one action, found the number {index} with another label")
    return index


def _find_label(name: str, actions: Sequence[LegalAction]) -> int | None:
    """Return the index of the action with a label or part of one, or None if there is none."""
    labels = {action.index: action.label for action in actions}
    for action in actions:
        if name in (action.label, action.text):
            return action.index
    meant = find_choices(labels, {each.index: each.short for each in actions}, name)
    if len(meant) == 1 and (len(plain(name)) >= _LEAST_PART or not meant[0]):
        return meant[0]
    if len(meant) > 1:
        listed = " or ".join(f"[{index}] {labels[index]}" for index in meant[:3])
        raise ParseFailure(f"[{_shown(name)}] could mean {listed}")
    return None


def _shown(name: str) -> str:
    """Return a name as it appears in a reason: short and printable."""
    text = "".join(each if each.isprintable() else " " for each in name[:_SHOWN])
    return text + "..." * (len(name) > _SHOWN)
