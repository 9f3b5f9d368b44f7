"""Army lists as plain text, as list builders print them and as players type them.

A list has headings ("Core", "++ Heroes [300 pts] ++"), units with counts and points, and options,
which follow the unit on its line, on lines below it with a bullet or an indent, or in brackets.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from wfb_gym.rosters.names import (
    comparison_key,
    find_army,
    find_item,
    find_profile,
    ignored_kind,
    is_army,
    is_heading,
    is_profile,
    level_in,
    lore_in,
    name_words,
    without_level,
)
from wfb_gym.rosters.roster import Roster, RosterEntry, RosterError, clean_name, number, plain_signs

_LINES = 1_000
"""Maximum number of lines. A list of 3,000 points has about 200."""
_LINE = 500  # maximum length of a line, in characters
_TEXT = 2**16
"""Maximum length of a text, in characters. A list of 3,000 points has about 6,000."""
_TAIL = 60  # number of characters at the end of a line that may contain its points
_OPTIONS = 60  # maximum number of options on a line
_LEAST_LIST = 700  # minimum points in a title such as "Dwarfs 2000"; a unit costs less

_HEADING = re.compile(
    r"(?:lords?|hero(?:e?s)?|characters?|core|specials?|rares?|mercenar(?:y|ies)|allies|troops|units"
    r"|war ?machines|lords? (?:&|and) heroe?s|configuration|dogs of war|army|uncategori[sz]ed)"
    r"(?: (?:units?|choices?|troops))?",
    re.IGNORECASE,
)
_FOOTER = re.compile(
    r"(?:[-=_*~#+ ]*$|.*\bhttps?:|created with|.*battlescribe\b|exported|(?:grand )?total\b|sum\b"
    r"|(?:casting|power|dispel) (?:dice|pool)\b|models in|models?:|points?:"
    r"|game system|\d+ ?(?:pts|points)? ?total)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"(?:(?P<pts>\d[\d,.]*)[\])]?\s*(?:pts?|points?|p)\b\.?(?:[^\])]*?\bdice)?"
    r"|(?<=[\[(=:@,;.\s-])(?P<bare>\d{2,4}))\s*[\])]?\s*$",
    re.IGNORECASE,
)
_COST_FIRST = re.compile(  # as BattleScribe prints units: "Name [265pts, 4 Casting Dice]: options"
    r"^(?P<name>[^\[\]:,]+?)\s*\[(?P<pts>\d[\d,.]*) ?pts[^\]]*\]:?\s*(?P<rest>.*)$", re.IGNORECASE
)
_DICE = re.compile(r"(\d+) (casting|dispel) dice", re.IGNORECASE)
_COST = re.compile(
    r"[\[(](?P<inner>[^\[\]()]*\d\s*(?:pts?|points?)?\b[^\[\]()]*)[\])]", re.IGNORECASE
)
_COUNT = re.compile(r"^(?:(?P<n>\d{1,3})\s*x?\s+|(?P<nx>\d{1,3})x\s*|x(?P<xn>\d{1,3})\s+)")
_COUNT_BEHIND = re.compile(r"\s+x\s?(?P<n>\d{1,3})$")
_BULLET = re.compile(r"^(?:-#|[-*.+>]+)\s+")
_WITH = re.compile(r"\s+(?:w/|w\.|with|on|riding|including|incl\.?)\s+", re.IGNORECASE)
_SEVERAL = re.compile(r"^(?P<units>[2-9])\s?x\s?(?P<n>\d{1,3})\s+")
_COUNT_IN_BRACKETS = re.compile(r"\s*\((?P<n>\d{1,3})\)$")
_DETACHMENT = re.compile(r"^detachments?(?:\s*[:-]|\s+of\b)\s*(?=\d)", re.IGNORECASE)
_TITLE_WORDS = re.compile(
    r"\b(?:army|armies|list|roster|of|the|warhammer|fantasy|battles?|[678]th|ed(?:ition)?)\b|[^\w\s]",
    re.IGNORECASE,
)


class _Line(NamedTuple):
    """A line of a list without its bullet."""

    text: str
    depth: int  # indent in spaces; a bullet counts as one more
    blank_before: bool


def read_text(text: str) -> Roster:
    """Read a plain text list.

    Raises:
        RosterError: if the text is too long or contains no units.
    """
    lines = _lines(text)
    title, lines, notes = _without_title(lines)
    entries: list[RosterEntry] = []
    section, block = "", list[_Line]()
    for line in lines:
        heading = _heading(line)
        if heading is None and not _is_note(line):
            block.append(line)
            continue
        if heading is None:
            notes.append(clean_name(line.text))
            continue
        entries += _entries(block, section)
        section, block = heading, []
    entries += _entries(block, section)
    points = _split_points(title)[1]
    if not entries:
        raise RosterError(
            'expected a line for each unit, such as "20 Halberdiers, musician, 125 pts", found none'
        )
    return Roster(clean_name(title), clean_name(" ".join(notes[:3])), "", points, tuple(entries),
                  tuple(each for each in notes if each))  # fmt: skip


def _lines(text: str) -> list[_Line]:
    if len(text) > _TEXT:
        raise RosterError(f"expected a text of at most {_TEXT:,} characters, found {len(text):,}")
    rows = plain_signs(text).replace("\t", "    ").splitlines()
    if len(rows) > _LINES:
        raise RosterError(f"expected at most {_LINES:,} lines, found {len(rows):,}")
    lines, is_blank = [], True
    for row in rows:
        if len(row) > _LINE:
            raise RosterError(f"expected lines of at most {_LINE:,} characters, found {len(row):,}")
        content = row.strip()
        if not content:
            is_blank = True
            continue
        bullet = _BULLET.match(content)
        depth = len(row) - len(row.lstrip()) + (bullet is not None)
        if not content.startswith(("++", "--", "+ ")) and bullet is not None:
            content = content[bullet.end() :]
        content = content.replace("**", "").replace("__", "").strip()
        lines.append(_Line(content, depth, is_blank))
        is_blank = False
    return lines


def _without_title(lines: list[_Line]) -> tuple[str, list[_Line], list[str]]:
    """Split off the title and other lines before the first unit or heading."""
    headings = [i for i, line in enumerate(lines) if _heading(line) is not None]
    taken: list[str] = []
    for line in lines[: headings[0] if headings else 1]:
        text = line.text.strip("#= ")
        if not (_is_title(text) or (headings and not _is_unit(text))):
            break
        taken.append(text)
    titles = [each for each in taken if each]
    return (titles[0] if titles else ""), lines[len(taken) :], titles[1:]


def _is_title(text: str) -> bool:
    """Whether a first line is a title: an army's name, or the points of a whole list."""
    head, points = _split_points(text)
    if points >= _LEAST_LIST:
        return True
    if _COUNT.match(head) is not None:
        return False
    if _is_army(head):
        return True
    words = _title_words(head)
    return not words or (find_army(words) is not None and not is_profile(words))


def _title_words(text: str) -> str:
    """Return a text without words such as "army" and "list"."""
    return " ".join(_TITLE_WORDS.sub(" ", text).split())


def _is_army(text: str) -> bool:
    """Whether a text is only the name of an army."""
    return is_army(text) or is_army(_title_words(text))


def _is_note(line: _Line) -> bool:
    """Whether a line is a total, a link or only an army's name."""
    is_unit = " " not in line.text and is_profile(line.text)  # such as "Goblins"
    if line.depth == 0 and not is_unit and _is_army(line.text):
        return True
    return _FOOTER.match(line.text.strip("+# ")) is not None


def _is_unit(text: str) -> bool:
    """Whether a line before the first heading is a unit."""
    head, points = _split_points(text)
    return is_profile(_name_of(head)) or (_COUNT.match(head) is not None and points > 0)


def _heading(line: _Line) -> str | None:
    """Return the category that a heading begins, or None for any other line."""
    text = line.text.strip("#=+ *_-")
    text = _split_points(text)[0].strip(" :*_+-()[]")
    if _HEADING.fullmatch(text):
        return text
    is_marked = line.text.startswith("#") or (
        line.text.startswith(("++", "+ ")) and line.text.rstrip().endswith("+")
    )
    return text if is_marked and not text.lower().startswith("total") else None


def _entries(lines: list[_Line], section: str) -> list[RosterEntry]:
    """Return the units in the lines below one heading."""
    if not lines:
        return []
    top = min(line.depth for line in lines)
    groups: list[list[str]] = []
    for line in lines:
        if groups and (line.depth > top or _continues(line, groups[-1])):
            groups[-1].append(line.text)
        else:
            groups.append([line.text])
    return [unit for group in groups for unit in _units(group, section)]


def _continues(line: _Line, group: list[str]) -> bool:
    """Whether an unindented line has options of the unit above instead of another unit."""
    text = line.text
    if text.startswith("(") and text.endswith(")"):
        return True
    if group[-1].rstrip().endswith((",", "+", ":")) or text[:1] in "+&,":
        return True
    if line.blank_before:
        return False
    head, points = _split_points(text)
    parts = _parts(head)
    if _is_wizard_level(text) and _lacks_level(group):
        return True
    if not parts or _is_option(parts[0]):  # only points, or options
        return True
    if points or is_profile(_name_of(head)) or _COUNT.match(text) is not None:
        return False
    has_level = any(level_in(each, 0) is not None for each in parts)
    return not (has_level and _is_unit_name(clean_name(parts[0])))


def _is_wizard_level(text: str) -> bool:
    """Whether a line is only "Wizard Level 2" or "Level 2 Wizard", without points."""
    return level_in(text, 0) is not None and comparison_key(without_level(text)) == "wizard"


def _lacks_level(group: list[str]) -> bool:
    """Whether the lines are a wizard of an army list without its level."""
    match = find_profile(_name_of(_split_points(group[0])[0]), None, typed=False)
    is_wizard = match is not None and getattr(match.profile, "kind", "") == "wizard"
    return is_wizard and not any(level_in(each, 0) for each in group)


def _is_option(text: str) -> bool:
    """Whether a text is an option of a character, which no unit's line begins with."""
    name = clean_name(_split_count(text)[0])
    return (
        name.casefold() in ("general", "army general")
        or (level_in(name, 0) is not None and not _is_unit_name(name))
        or find_item(name) is not None
    ) and not is_profile(name)


def _is_unit_name(name: str) -> bool:
    """Whether the name on a line with a level is a character's, possibly one without a profile."""
    rest = without_level(name)
    if level_in(rest, 0) is not None or is_heading(rest) or lore_in(rest) or find_item(rest):
        return False
    words = name_words(rest)
    has_profile = any(is_profile(" ".join(words[i:])) for i in range(1, len(words)))
    return has_profile or ignored_kind(rest) is None


def _units(group: list[str], section: str) -> list[RosterEntry]:
    """Return the units of a line: one, or several if it begins with, for example, 2x5."""
    group = [_DETACHMENT.sub("", group[0]), *group[1:]]
    several = _SEVERAL.match(group[0])
    if several is None:
        return [_entry(group, section)]
    units = int(several["units"])
    entry = _entry([f"{several['n']} {group[0][several.end() :]}", *group[1:]], section)
    return [replace(entry, points=entry.points / units)] * units


def _entry(group: list[str], section: str) -> RosterEntry:
    """Return a unit from its line and the lines of its options."""
    first = _COST_FIRST.match(group[0])
    if first is None:
        head, points = _split_points(group[0])
        power, dispel = _dice(group[0])
    else:
        head, points = first["name"], _thousands(first["pts"])
        power, dispel = _dice(group[0][: first.start("rest")])
        group = [group[0], *([first["rest"]] if first["rest"] else []), *group[1:]]
    options: list[RosterEntry] = []
    parts = _parts(head)
    if any(any(_dice(part)) for part in parts[1:]):  # the dice of its options
        power, dispel = _dice(parts[0])
    for text in [*parts[1:], *group[1:]]:
        inner, cost = _split_points(text)
        if not inner:  # a line with only the points
            points = points or cost
            continue
        for part in [text] if _DETACHMENT.match(text) else _parts(text):
            options += _options(part)
    name, count = _split_count(parts[0] if parts else head)
    name, inside = _without_brackets(name)
    for part in inside:
        options[:0] = _options(part)
    name = clean_name(name) or "?"
    return RosterEntry(
        name, count, "", points, power, dispel, section, {}, tuple(options[:_OPTIONS])
    )


def _options(text: str) -> list[RosterEntry]:
    """Return the options in a text, without their points, which the unit's points include."""
    detachment = _DETACHMENT.match(text)
    if detachment is not None:
        return [replace(_entry([text[detachment.end() :]], ""), kind="unit")]
    power, dispel = _dice(text)
    text, count = _split_count(_split_points(text)[0])
    in_brackets = _COUNT_IN_BRACKETS.search(text)
    if in_brackets is not None:
        text, count = text[: in_brackets.start()], max(1, int(in_brackets["n"]))
    text, inside = _without_brackets(text)
    name = clean_name(text.strip(" .,:;"))
    found = [RosterEntry(name, count, "", 0.0, power, dispel)] if name else []
    for part in inside:
        found += _options(part)
    return found[:_OPTIONS]


def _dice(text: str) -> tuple[int, int]:
    """Return the casting and dispel dice in the cost of an entry."""
    found = {kind.lower(): int(number(n)) for n, kind in _DICE.findall(text)}
    return found.get("casting", 0), found.get("dispel", 0)


def _split_points(text: str) -> tuple[str, float]:
    """Split the points off the end of a text, or out of brackets in it."""
    start = max(0, len(text) - _TAIL)
    found = _POINTS.search(text, start)
    if found is not None:
        digits = found["pts"] or found["bare"]
        return text[: found.start()].rstrip(" .,:;=-@[("), _thousands(digits)
    for cost in _COST.finditer(text):
        points = re.search(r"(\d[\d,.]*)\s*(?:pts?|points?)\b", cost["inner"], re.IGNORECASE)
        if points is not None:
            rest = f"{text[: cost.start()]} {text[cost.end() :]}"
            return rest.strip().replace(" :", ":"), _thousands(points[1])
    return text.strip(), 0.0


def _thousands(digits: str) -> float:
    """Return a number of points, which may contain a thousands separator."""
    plain = re.sub(r"[,.](?=\d{3}\b)", "", digits)
    return number(plain.strip(",."))


def _split_count(text: str) -> tuple[str, int]:
    text = text.strip()
    found = _COUNT.match(text)
    if found is not None:
        return text[found.end() :], max(1, int(found["n"] or found["nx"] or found["xn"]))
    found = _COUNT_BEHIND.search(text)
    if found is not None:
        return text[: found.start()], max(1, int(found["n"]))
    return text, 1


def _name_of(head: str) -> str:
    """Return the name in the head of a unit's line, without count and options."""
    parts = _parts(head)
    return clean_name(_without_brackets(_split_count(parts[0])[0])[0]) if parts else ""


def _without_brackets(text: str) -> tuple[str, list[str]]:
    """Return a text without its parts in brackets, and these parts, split at commas."""
    inside = [
        part for found in re.findall(r"[\[(]([^\[\]()]*)[\])]", text) for part in _parts(found)
    ]
    outside = re.sub(r"[\[(][^\[\]()]*[\])]?", " ", text)
    return " ".join(outside.replace(")", " ").replace("]", " ").split()), inside


def _parts(text: str) -> list[str]:
    """Split a text at commas, semicolons, colons and dashes outside brackets."""
    text = _WITH.sub(", ", text)
    text = re.sub(r"\s+(?:[-+&/]|and)\s+", ", ", text)
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth = max(0, depth + (c in "([") - (c in ")]"))
        is_prefix = c == ":" and _is_prefix(text[start:i].strip(" .-"), text[i + 1 :])
        if depth == 0 and c in ",;:" and not is_prefix:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    found = [part.strip(" .-") for part in parts]
    return [part for part in found if part][:_OPTIONS]


def _is_prefix(before: str, after: str) -> bool:
    """Whether the words before a colon belong to the option after it."""
    return before.casefold() == "prayer" or _DETACHMENT.match(f"{before}:{after}") is not None
