"""Requests for advice: the options, and the scenario that they describe."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from wfb_gym.advising.typical_target import SpellTargetError, SpellValue, typical_value
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.errors import printable, shortened
from wfb_gym.scenario.sizes import DICE, SPELLS
from wfb_gym.scenario.spells import LORES_PAGE, lore_spells
from wfb_gym.suggestions import find_name, name_finder, one_of

SCROLL = "Dispel Scroll"  # name of the item used to dispel a spell
_PROFILES = {"1": "Battle Wizard", "2": "Battle Wizard", "3": "Wizard Lord", "4": "Wizard Lord"}
"""Profile (Toughness, Wounds, points) for a wizard described only by its level."""
_WITHOUT_EQUALS = re.compile(r"(.*?)[\s:]+(\d+(?:\.\d+)?)")
"""A spell and its points, without an "=" between them."""
_MAX_FOUND_CHARACTERS = 200


class PositionError(ValueError):
    """Raised for an impossible position; names the option and the expected and found values."""

    def __init__(self, option: str, expected: str, found: object) -> None:
        shown = shortened(printable(str(found)), _MAX_FOUND_CHARACTERS)
        super().__init__(f"{option}: expected {expected}, found {shown}")


@dataclass(frozen=True)
class PositionRequest:
    """The options of ``advise``. Fields that are not given are None or empty."""

    scenario: str | None = None
    wizard: Sequence[Sequence[str]] = ()
    target: str | None = None
    ruleset: str | None = None
    power: int | None = None
    own: Sequence[int] = ()
    dispel: int | None = None
    scrolls: int | None = None
    tried: Sequence[str] = ()
    nominated: str | None = None
    cast: str | None = None
    total: int | None = None
    at: str | None = None
    shown: Sequence[str] = ()
    phases: int | None = None
    spells: Sequence[Sequence[str]] = ()
    rolled: Sequence[Sequence[str]] = ()
    position: str | None = None


class KnownSpells(NamedTuple):
    """A wizard's rolled spells: a bit mask, and whether one of them may still be swapped."""

    drawn: int
    may_swap: bool


def check_request(request: PositionRequest) -> None:
    """Reject contradictory options and impossible numbers."""
    if request.position is not None:
        for field in fields(request):
            if field.name != "position" and getattr(request, field.name) not in (None, ()):
                expected = "no other description of the position"
                raise PositionError("--position", expected, f"{field.name.replace('_', '-')} too")
        return
    if request.scenario is None and not request.wizard:
        raise PositionError("situation", "a scenario or --wizard", "neither")
    pools = ("power", request.power), ("dispel", request.dispel), ("scrolls", request.scrolls)
    for option, number in (*pools, *(("own", dice) for dice in request.own)):
        if number is not None and not 0 <= number <= DICE:
            raise PositionError(f"--{option}", f"0..{DICE}", number)
    if request.cast is not None and request.nominated is not None:
        raise PositionError("--nominated", "no spell together with --cast", request.nominated)
    if request.total is not None and request.cast is None:
        raise PositionError("--total", "--cast with it", "none")
    if request.at is not None and request.cast is None and request.nominated is None:
        raise PositionError("--at", "--nominated or --cast with it", "neither")


def check_completeness(request: PositionRequest) -> None:
    """Reject spells without the numbers that they need, all of which the message names."""
    for option, numbers in (("cast", ("total", "power")), ("tried", ("power",))):
        missing = [f"--{number}" for number in numbers if getattr(request, number) is None]
        if getattr(request, option) and missing:
            expected = f"{' and '.join(missing)} with it"
            if "--power" in missing:
                expected += " (the power dice that are left)"
            raise PositionError(f"--{option}", expected, "neither" if missing[1:] else "none")


def scenario_of_request(request: PositionRequest) -> tuple[Scenario, tuple[SpellValue, ...]]:
    """Load the scenario with the request's wizards, scrolls and ruleset; return the values too.

    These are the values of spells without points in the request.
    """
    values: list[SpellValue] = []
    if request.scenario is None:
        where = "--wizard"
        data: dict[str, Any] = {"name": "wizards", "caster": {}, "dispeller": {}}
    else:
        loaded = load_scenario(request.scenario)
        if request.phases is not None:
            if not 1 <= request.phases <= loaded.phases:
                raise PositionError("--phases", f"1..{loaded.phases}", request.phases)
            loaded = loaded.first_phases(request.phases)
        where = loaded.name
        data = dict(loaded)
    if request.wizard:
        data["caster"] = dict(data["caster"]) | {"wizards": _wizards(request, values)}
    if request.ruleset is not None:
        data["ruleset"] = request.ruleset
    scenario = scenario_from_dict(data, where)
    if request.target is not None and not values:
        expected = "--wizard with a spell of a lore without points, and no scenario"
        raise PositionError("--target", expected, request.target)
    if request.scrolls is not None:
        dispeller = _with_scrolls(scenario.dispeller, request.scrolls)
        scenario = scenario_from_dict(dict(scenario) | {"dispeller": dispeller}, where)
    return scenario, tuple(values)


def known_spells(
    request: PositionRequest, scenario: Scenario
) -> dict[tuple[int, int], KnownSpells]:
    """Parse the spells given to wizards who roll them, by army and wizard."""
    rolling = {
        who.name: (army, wizard, who)
        for army, side in enumerate(scenario.armies)
        for wizard, who in enumerate(side.wizards)
        if who.rolls_spells
    }
    known: dict[tuple[int, int], KnownSpells] = {}
    for option, lists in (("--spells", request.spells), ("--rolled", request.rolled)):
        for name, *spells in lists:
            found = find_name(rolling, name)
            if found is None:
                expected = one_of(rolling, name, "a wizard that rolls its spells")
                raise PositionError(option, expected, repr(name))
            army, wizard, who = rolling[found]
            if (army, wizard) in known:
                raise PositionError(option, f"{found} once", "twice")
            lore = [spell.name for spell in who.candidate_spells]
            drawn, number = 0, scenario.spells_drawn(who)
            for spell in spells:
                numbered = dict(zip(map(str, range(1, len(lore) + 1)), lore, strict=True))
                named = find_name(lore, numbered.get(spell, spell))
                if named is None:
                    kind = f"a spell of the lore of {who.lore}, or its number from 1"
                    raise PositionError(option, one_of(lore, spell, kind), repr(spell))
                drawn |= 1 << lore.index(named)
            if drawn.bit_count() != number or len(spells) != number:
                expected = f"{number} different spells of {found}"
                raise PositionError(option, expected, ", ".join(map(repr, spells)) or "none")
            known[army, wizard] = KnownSpells(drawn, option == "--rolled")
    return known


def wizards_title(request: PositionRequest) -> str:
    """Return a title for a position given by wizards, without a scenario."""
    return " and ".join(f"level {wizard[0]} wizard" for wizard in request.wizard)


def _wizards(request: PositionRequest, values: list[SpellValue]) -> list[dict[str, Any]]:
    """Parse the wizards on the command line; add the values of spells without points."""
    wizards: list[dict[str, Any]] = []
    for number, (level, *spells) in enumerate(request.wizard, 1):
        if level not in _PROFILES:
            raise PositionError(
                "--wizard", f"a level from {min(_PROFILES)} to {max(_PROFILES)} first", level
            )
        if not spells:
            raise PositionError("--wizard", f"spells after the level {level}", "none")
        _reject_split_names(spells)
        name = "Wizard" if len(request.wizard) == 1 else f"Wizard {number}"
        wizard = {"name": name, "profile": _PROFILES[level], "level": int(level)}
        known: list[dict[str, Any]] = []
        for text in spells:
            spell = _spell(text)
            copies = sum(other["name"].split(" #")[0] == spell["name"] for other in known)
            if copies and "casting_value" not in spell:  # a spell from a lore is known only once
                raise PositionError("--wizard", "each spell once", f"{spell['name']} twice")
            if copies:
                spell["name"] += f" #{copies + 1}"
            if "worth" not in spell and request.scenario is None:
                value = _value_without_points(spell["name"], wizard, request.target)
                spell["worth"] = value.points
                values.append(value)
            known.append(spell)
        wizards.append({**wizard, "spells": known})
    return wizards


def _value_without_points(spell: str, wizard: dict[str, Any], target: str | None) -> SpellValue:
    try:
        return typical_value(spell, wizard, target)
    except SpellTargetError as error:
        option, found = ("--wizard", spell) if target is None else ("--target", target)
        raise PositionError(option, error.expected, repr(found)) from None


def _reject_split_names(texts: Sequence[str]) -> None:
    """Reject a name of several words given without quotes."""
    lores = [spell.name for spell in lore_spells()]
    longest = max(len(name.split()) for name in lores)
    if len(texts) > SPELLS * longest:
        raise PositionError("--wizard", f"at most {SPELLS} spells", f"{len(texts)} words")
    find = name_finder(lores)
    for first, text in enumerate(texts):
        if find(text.partition("=")[0]):
            continue
        for end in range(first + 2, min(first + longest, len(texts)) + 1):
            words = " ".join(texts[first:end])
            if find(words.partition("=")[0]):
                raise PositionError("--wizard", f'quotes: "{words}"', f"{words} without quotes")


def _spell(text: str) -> dict[str, Any]:
    """Parse a spell: ``Fire Ball``, ``Fire Ball=20``, ``8=40`` or ``8+=40``."""
    name, equals, points = text.partition("=")
    lores = [spell.name for spell in lore_spells()]
    spell: dict[str, Any] = {"name": find_name(lores, name.strip())}
    value = name.strip().removesuffix("+")
    if value.isdecimal():
        spell = {"name": f"{int(value)}+", "casting_value": int(value)}
    elif spell["name"] is None:
        unsigned = _WITHOUT_EQUALS.fullmatch(text.strip())
        if unsigned and find_name(lores, unsigned[1]):
            expected = f"= before the points, as {unsigned[1]}={unsigned[2]}"
            raise PositionError("--wizard", expected, repr(text))
        kind = "a casting value or a spell of a lore"
        expected = one_of(lores, name.strip(), kind, LORES_PAGE)
        raise PositionError("--wizard", expected, repr(name.strip()))
    if equals:
        try:
            spell["worth"] = float(points)
        except ValueError:
            expected = f"the value of {spell['name']} in points after the ="
            raise PositionError("--wizard", expected, repr(points)) from None
    elif "casting_value" in spell:
        expected = f"the spell's value in points, such as {text.strip()}=20"
        raise PositionError("--wizard", expected, repr(text))
    return spell


def _with_scrolls(army: Army, scrolls: int) -> dict[str, Any]:
    """Give the army this many unused scrolls; existing bearers keep theirs first."""
    unread = iter([SCROLL] * scrolls)

    def keep(items: Sequence[str]) -> tuple[str, ...]:
        return tuple(item for item in items if item != SCROLL or next(unread, None))

    changed: dict[str, Any] = {}
    for kind in ("wizards", "runesmiths", "heroes"):
        changed[kind] = [
            each.model_copy(update={"items": keep(each.items)}) if each.is_active else each
            for each in getattr(army, kind)
        ]
    return dict(army) | changed | {"items": (*keep(army.items), *unread)}


def with_request_dice(scenario: Scenario, request: PositionRequest) -> Scenario:
    """Return the scenario with the request's dice in its first phase.

    It is only used to reach the position. Later phases generate their dice as usual.
    """
    caster, dispeller = dict(scenario.caster), dict(scenario.dispeller)
    wizards = scenario.caster.wizards
    if request.power is not None:
        # The maximum, so that spells that were tried or cast can be played; the remaining number is
        # written afterwards. Without dice and casts the phase is over, and the engine must see 0.
        caster["power_dice"] = DICE if request.power or request.tried or request.cast else 0
    if request.dispel is not None:
        dispeller["dispel_dice"] = request.dispel
    if request.own:
        if len(request.own) != len(wizards):
            whose = ", ".join(wizard.name for wizard in wizards)
            expected = f"a number for each of the caster's wizards ({whose})"
            raise PositionError("--own", expected, len(request.own))
        caster["wizards"] = [
            wizard.model_copy(update={"reserve": dice})
            for wizard, dice in zip(wizards, request.own, strict=True)
        ]
    return scenario_from_dict(
        dict(scenario) | {"caster": caster, "dispeller": dispeller}, scenario.name
    )
