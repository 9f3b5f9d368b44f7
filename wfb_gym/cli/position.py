"""The position that a player asks about: a scenario, and what a phase has come to.

The engine makes the position itself: spells that were tried are nominated and fail, and the spell
that was cast is thrown with dice that show its total. Only the pools are written, so that what is
left at the end is what the player says.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_TARGET, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import cast_bonus
from wfb_gym.engine.hidden_items import may_be_kind
from wfb_gym.engine.queries import can_answer_cast
from wfb_gym.engine.state import STATE, DispelAttempt, Node
from wfb_gym.packing import pack
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.errors import printable, shortened
from wfb_gym.scenario.sizes import DICE, NO_BEARER, WIZARDS
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import find_name, one_of, plain
from wfb_gym.view.effects import spell_words
from wfb_gym.view.hidden_sets import EVERYBODY, known_items
from wfb_gym.view.names import NO_TARGET, ScenarioNames, dice_phrase, own_dice_phrase

_SCROLL = "Dispel Scroll"
_PROFILES = {"1": "Battle Wizard", "2": "Battle Wizard", "3": "Wizard Lord", "4": "Wizard Lord"}
"""Profiles whose Toughness, Wounds and points a wizard has of which only the level is known."""


_WITHOUT_EQUALS = re.compile(r"(.*?)[\s:]+(\d+(?:\.\d+)?)")
"""A spell and its points without the sign between them."""
_MAX_SHOWN = 200
"""Characters of what was found in a message."""


class PositionError(ValueError):
    """A position that cannot be: which option, what was expected, what was found."""

    def __init__(self, option: str, expected: str, found: object) -> None:
        shown = shortened(printable(str(found)), _MAX_SHOWN)
        super().__init__(f"{option}: expected {expected}, found {shown}")


@dataclass(frozen=True)
class PositionRequest:
    """What the options of ``advise`` say; a member that is not given is None or empty."""

    scenario: str | None = None
    wizard: Sequence[Sequence[str]] = ()
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


class KnownSpells(NamedTuple):
    """Spells of a wizard that rolls them: a bit for each, and whether one may be swapped."""

    drawn: int
    may_swap: bool


class RequestedPosition:
    """The position of a scenario's first phase that a request describes.

    Attributes:
        request: that it answers.
        scenario: with the armies as the request has them.
        title: the scenario's name, or in words the wizards that are asked about without one.
        names: of the scenario.
        known: what the request says of wizards that roll their spells, by army and wizard.
        selecting: where spells are still rolled or swapped that the request does not tell: a
            battle to go on with, for `reach`; None where all are known.
        battle: the position, at a decision, a casting roll or the end; with `selecting` the
            selection itself. Of hidden items it has some that fit those that were shown.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
        PositionError: the phase cannot have come to this.
    """

    def __init__(self, request: PositionRequest) -> None:
        _check(request)
        self.request, self.scenario = request, _with_armies(request)
        self.title = _wizards_title(request) if request.scenario is None else self.scenario.name
        self.names = names = ScenarioNames(self.scenario)
        self._spells = [
            (f"{names.caster(0, index)}/{slot.spell.name}", slot.spell.name)
            for index, slot in enumerate(names.spells[0])
        ]
        self._packed = pack(self.scenario)
        self.known = _known_spells(request, self.scenario)
        self.selecting: Battle | None = None
        self.battle = Battle(pack(_with_dice(self.scenario, request)))
        self._deal()
        self.pass_known(self.battle)
        if self.battle.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
            self._check_selection()
            self.selecting = self.battle
        elif self.battle.is_chance():
            expected = "a scenario that begins with a decision"
            found = f"one that begins with {self.battle.node.name}"
            raise PositionError(self.title, expected, found)
        else:
            self.battle = self.reach(self.battle)

    def reach(self, beginning: Battle) -> Battle:
        """Return the position that a phase comes to which begins so, its spells selected."""
        kept, self.battle = self.battle, beginning.copy()
        self._play_on()
        reached = Battle(self._packed)
        reached.state.setfield(self.battle.state, STATE)
        self.battle = kept
        return reached

    def pass_known(self, battle: Battle) -> None:
        """Select the spells that the request tells, up to a roll or a swap that it does not."""
        while battle.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
            told = self.known.get(divmod(int(battle.state.cursor), WIZARDS))
            if told is None:
                return
            if battle.node == Node.ROLL_SPELLS:
                battle.resolve(told.drawn)
            elif told.may_swap:
                return
            else:
                battle.act(PASS)

    def is_secret(self, army: int) -> bool:
        """Return whether an army may have been dealt one of several sets by what it has shown."""
        kinds, battle = range(len(self.scenario.armies[army].hidden)), self.battle
        return sum(may_be_kind(battle.packed, battle.state, army, kind) for kind in kinds) > 1

    def pools(self) -> dict[str, Any]:
        """Return the power dice, the wizards' own dice, dispel dice and scrolls that are left.

        Scrolls that are a secret do not count.
        """
        state, wizards = self.battle.state, len(self.scenario.caster.wizards)
        slots, bearers = self.names.items[1], self.scenario.dispeller.characters
        known = known_items(self.names, self.battle, 1, not self.is_secret(1))
        return {
            "power": int(state.power),
            "own": [int(dice) for dice in state.own_dice[:wizards]],
            "dispel": int(state.dispel),
            "scrolls": sum(
                each.left
                for index, each in known.items()
                if slots[index].item.name == _SCROLL
                and (slots[index].bearer == NO_BEARER or bearers[slots[index].bearer].is_active)
            ),
        }

    def summary(self) -> str:
        """Describe what both sides have left, and what is being cast."""
        pools, state, total = self.pools(), self.battle.state, self.request.total
        power = dice_phrase(pools["power"], "power") + own_dice_phrase(pools["own"])
        which = "open scroll" if self.is_secret(1) else "scroll"
        scrolls = f"{pools['scrolls'] or 'no'} {which}{'' if pools['scrolls'] == 1 else 's'}"
        text = f"{power} against {dice_phrase(pools['dispel'], 'dispel')} and {scrolls}"
        if state.spell:
            spell = self.names.spell(int(state.active), int(state.spell) - 1)
            spell += self.names.at_pending_target(self.battle)
            what = "is being cast"
            if state.attempt == DispelAttempt.CAST:
                what = f"was cast{f' with a total of {total}' if total else ''}"
            text += f"; {spell} {what}"
        return f"{self.title}: {text}"

    def horizon(self) -> str:
        """Describe what a value from here on is the value of."""
        if self.selecting is None and self.battle.node != Node.NOMINATE:
            return "The situation"
        whole = "phase" if self.scenario.phases == 1 else "battle"
        return f"The rest of the {whole}" if self.request.tried else f"The {whole}"

    def roller(self, battle: Battle) -> str:
        """Return the name of the wizard whose spells are being selected."""
        army, wizard = divmod(int(battle.state.cursor), WIZARDS)
        return self.names.characters[army][wizard]

    def selection(self) -> str:
        """Describe whose spells are rolled, or what may be swapped."""
        if self.battle.node == Node.SWAP_SPELL:
            army, wizard = divmod(int(self.battle.state.cursor), WIZARDS)
            spells = self.scenario.armies[army].wizards[wizard].candidate_spells
            drawn = self.known[army, wizard].drawn
            rolled = [spell.name for k, spell in enumerate(spells) if drawn >> k & 1]
            first = f"the first of its lore is {spells[0].name}, {spell_words(spells[0])}"
            return f"{self.roller(self.battle)} has rolled {' and '.join(rolled)}; {first}"
        open_rolls = [
            f"{who.name} {self.scenario.spells_drawn(who)} of {who.lore}"
            for army, side in enumerate(self.scenario.armies)
            for wizard, who in enumerate(side.wizards)
            if who.rolls_spells and (army, wizard) not in self.known
        ]
        return f"spells to roll, {', '.join(open_rolls)}"

    # --- playing ---------------------------------------------------------------------------

    def _deal(self) -> None:
        """Deal hidden items that fit those that were shown, and use these."""
        battle, packed = self.battle, self._packed[0]
        used = np.zeros_like(battle.state.items)
        for text in self.request.shown:
            used[self._find_hidden(text, used)] += 1
        while battle.node == Node.DEAL:
            army = battle.mover
            uses = packed.armies[army].kind_uses[: packed.armies[army].n_kinds]
            fits = (uses >= used[army]).all(1)
            if not fits.any():
                expected = f"items that a set of the {SEATS[army]} has together"
                raise PositionError("--shown", expected, ", ".join(self.request.shown))
            battle.resolve(int(fits.argmax()))
        battle.state.items -= used

    def _find_hidden(self, text: str, used: NDArray[Any]) -> tuple[int, int]:
        """Find army and number of a hidden item that was used, named with or without its army."""
        labels = {
            (army, index): (f"{SEATS[army]}/{slot.item.name}", slot.item.name)
            for army in EVERYBODY
            for index, slot in enumerate(self.names.items[army])
            if any(slot.hidden)
        }
        wanted = find_name(dict.fromkeys(chain(*labels.values())), text)
        found = [place for place, names in labels.items() if wanted in names]
        if not found:
            known = dict.fromkeys(name for _, name in labels.values())
            raise PositionError("--shown", one_of(known, text, "a hidden item"), repr(text))
        if len({army for army, _ in found}) > 1:
            expected = f"one of {', '.join(dict.fromkeys(labels[each][0] for each in found))}"
            raise PositionError("--shown", expected, text)
        left = [
            (army, index)
            for army, index in found
            if self._packed[0].armies[army].kind_uses[:, index].max() > used[army, index]
        ]
        return (left or found)[0]

    def _check_selection(self) -> None:
        """Refuse options that need spells which the request does not tell."""
        request, who = self.request, self.roller(self.battle)
        for option in ("tried", "nominated", "cast"):
            if getattr(request, option):
                expected = f"--spells {who} with it, which rolls its spells"
                raise PositionError(f"--{option}", expected, "none")
        if request.rolled and self.battle.node == Node.ROLL_SPELLS:
            expected = f"--spells {who} or --rolled {who} with it, which selects its spells before"
            raise PositionError("--rolled", expected, "neither")

    def _play_on(self) -> None:
        """Play from the beginning of the phase to the position."""
        request, battle = self.request, self.battle
        left = request.power or 0
        if (request.tried or request.cast) and not request.own and battle.state.own_dice.any():
            option = "--tried" if request.tried else "--cast"
            expected = "--own with it, the dice that are left to each wizard alone"
            raise PositionError(option, expected, "none")
        if battle.node == Node.NOMINATE:
            battle.state.power = battle.state.power if request.power is None else left
            battle.state.dispel = battle.state.dispel if request.dispel is None else request.dispel
        for number, spell in enumerate(request.tried, 1):
            more = number < len(request.tried) or request.cast is not None
            self._to_dice("--tried", spell, None)
            self.battle = _throw(self.battle, (1,), left + more)  # which fails
        if request.nominated is not None:
            self._nominate("--nominated", request.nominated, request.at)
        if request.cast is not None and request.total is not None:
            self._cast(request.cast, request.total, left)

    def _find(self, option: str, text: str) -> int:
        """Find the index of a spell of the caster's, named with or without its wizard."""
        wanted = find_name(dict.fromkeys(chain(*self._spells)), text)
        found = [index for index, labels in enumerate(self._spells) if wanted in labels]
        labels = dict.fromkeys(self._spells[index][0] for index in found)
        if not found:
            known = dict.fromkeys(name for _, name in self._spells)
            raise PositionError(option, one_of(known, text, "a spell of the caster's"), repr(text))
        if len(labels) > 1:
            raise PositionError(option, f"one of {', '.join(labels)}", repr(text))
        return found[0]

    def _nominate(self, option: str, text: str, at: str | None) -> int:
        """Name a spell, and its target where it is known."""
        battle = self.battle
        spell = self._find(option, text)
        codes = battle.legal_actions() if battle.node == Node.NOMINATE else []
        if FIRST_CAST + spell not in codes:
            if self.request.power == 0 and self.names.spells[0][spell].item is None and not codes:
                raise PositionError(option, "power dice to cast it with", "none: --power 0")
            open_now = [self._spells[code - FIRST_CAST][1] for code in codes if code >= FIRST_CAST]
            expected = f"a spell that can be cast now ({', '.join(open_now) or 'there is none'})"
            raise PositionError(option, expected, self._spells[spell][1])
        battle.act(FIRST_CAST + spell)
        if at is None:
            return spell
        if battle.node == Node.TARGET:
            names = self._targets()
        else:  # there is one target at most, which the engine has taken
            names = {-1: self.names.pending_target(battle) or NO_TARGET}
        for code, name in names.items():
            if plain(at) in (plain(name), plain(_short(name))):
                if code >= 0:
                    battle.act(code)
                return spell
        raise PositionError("--at", " or ".join(names.values()), repr(at))

    def _targets(self) -> dict[int, str]:
        """Return the names of the targets that may be chosen, by action."""
        codes = self.battle.legal_actions()
        packed = self.battle.packed
        return {code: self.names.aimed_at(packed, 0, code - FIRST_TARGET) for code in codes}

    def _to_dice(self, option: str, text: str, at: str | None) -> int:
        """Nominate a spell and go on to the shared dice, without items or own dice."""
        battle = self.battle
        battle.state.power = DICE  # so that the number of dice is a choice
        spell = self._nominate(option, text, at)
        if battle.node == Node.TARGET:
            if option == "--cast":
                targets = " or ".join(self._targets().values())
                raise PositionError(option, f"--at with it ({targets})", "none")
            battle.act(battle.legal_actions()[0])  # a spell that fails strikes nothing
        if battle.node == Node.ITEM:
            battle.act(PASS)
        if battle.node == Node.RESERVE_DICE:
            battle.act(FIRST_DICE)
        if battle.node != Node.POOL_DICE:
            raise PositionError(option, "a spell that is cast with dice", self._spells[spell][1])
        return spell

    def _cast(self, text: str, total: int, left: int) -> None:
        """Cast a spell with that total."""
        battle = self.battle
        spell = self._to_dice("--cast", text, self.request.at)
        if not can_answer_cast(battle.packed, battle.state):
            raise PositionError("--dispel", "dice or a scroll to dispel with", "none")
        cast = _cast_with(battle, total, left)
        if cast is not None:
            self.battle = cast
            return
        bonus = int(cast_bonus(battle.packed, battle.state))
        most = battle.legal_actions()[-1] - FIRST_DICE
        totals = range(1 + bonus, most * FACES + bonus + 1)
        lowest = next((each for each in totals if _cast_with(battle, each, left)), None)
        highest = next((each for each in reversed(totals) if _cast_with(battle, each, left)), None)
        slot = self.names.spells[0][spell]
        expected = (
            f"a total from {lowest} to {highest}, with which up to {dice_phrase(most)} cast "
            f"{slot.spell.name} ({slot.casting_value}+) if not with irresistible force"
        )
        raise PositionError("--total", expected, total)


def _short(target: str) -> str:
    """Return the name of a point without whom it reaches; any other target as it is."""
    return target.partition(" (")[0] if target.startswith("point ") else target


def _check(request: PositionRequest) -> None:
    """Refuse options that say too little or too much, and impossible numbers."""
    if request.scenario is None and not request.wizard:
        raise PositionError("situation", "a scenario or --wizard", "neither")
    pools = ("power", request.power), ("dispel", request.dispel), ("scrolls", request.scrolls)
    for option, number in (*pools, *(("own", dice) for dice in request.own)):
        if number is not None and not 0 <= number <= DICE:
            raise PositionError(f"--{option}", f"0..{DICE}", number)
    if request.cast is not None and request.nominated is not None:
        raise PositionError("--nominated", "no spell beside that of --cast", request.nominated)
    if request.cast is not None and request.total is None:
        raise PositionError("--cast", "--total with it", "none")
    if request.total is not None and request.cast is None:
        raise PositionError("--total", "--cast with it", "none")
    if request.at is not None and request.cast is None and request.nominated is None:
        raise PositionError("--at", "--nominated or --cast with it", "neither")
    for option in ("tried", "cast"):
        if getattr(request, option) and request.power is None:
            raise PositionError(f"--{option}", "--power with it, the dice that are left", "none")


# --- the armies ----------------------------------------------------------------------------


def _with_armies(request: PositionRequest) -> Scenario:
    """Load the scenario, with the wizards, scrolls and ruleset that the request says."""
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
        data["caster"] = dict(data["caster"]) | {"wizards": _wizards(request)}
    if request.ruleset is not None:
        data["ruleset"] = request.ruleset
    scenario = scenario_from_dict(data, where)
    if request.scrolls is None:
        return scenario
    dispeller = _with_scrolls(scenario.dispeller, request.scrolls)
    return scenario_from_dict(dict(scenario) | {"dispeller": dispeller}, where)


def _known_spells(
    request: PositionRequest, scenario: Scenario
) -> dict[tuple[int, int], KnownSpells]:
    """Read the spells of wizards that roll them."""
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


def _wizards_title(request: PositionRequest) -> str:
    return " and ".join(f"level {wizard[0]} wizard" for wizard in request.wizard)


def _wizards(request: PositionRequest) -> list[dict[str, Any]]:
    """Read the wizards that the command line lists."""
    wizards: list[dict[str, Any]] = []
    for number, (level, *spells) in enumerate(request.wizard, 1):
        if level not in _PROFILES:
            raise PositionError(
                "--wizard", f"a level from {min(_PROFILES)} to {max(_PROFILES)} first", level
            )
        if not spells:
            raise PositionError("--wizard", f"spells behind the level {level}", "none")
        _refuse_split_names(spells)
        known: list[dict[str, Any]] = []
        for text in spells:
            spell = _spell(text, request.scenario is None)
            copies = sum(other["name"].split(" #")[0] == spell["name"] for other in known)
            if copies and "casting_value" not in spell:  # a spell of a lore is known once
                raise PositionError("--wizard", "each spell once", f"{spell['name']} twice")
            if copies:
                spell["name"] += f" #{copies + 1}"
            known.append(spell)
        name = "Wizard" if len(request.wizard) == 1 else f"Wizard {number}"
        wizard = {"name": name, "profile": _PROFILES[level], "level": int(level), "spells": known}
        wizards.append(wizard)
    return wizards


def _refuse_split_names(texts: Sequence[str]) -> None:
    """Refuse a name of several words that came as several arguments, as without quotes."""
    lores = [spell.name for spell in lore_spells()]
    for first, text in enumerate(texts):
        if find_name(lores, text.partition("=")[0]):
            continue
        for end in range(first + 2, len(texts) + 1):
            words = " ".join(texts[first:end])
            if find_name(lores, words.partition("=")[0]):
                raise PositionError("--wizard", f'quotes: "{words}"', f"{words} without any")


def _spell(text: str, worth_needed: bool) -> dict[str, Any]:
    """Read a spell as the command line writes it: ``Fire Ball=20``, ``8=40`` or ``8+=40``."""
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
        expected = one_of(lores, name.strip(), "a casting value or a spell of a lore")
        raise PositionError("--wizard", expected, repr(name.strip()))
    if equals:
        try:
            spell["worth"] = float(points)
        except ValueError:
            expected = f"what {spell['name']} is worth in points behind the ="
            raise PositionError("--wizard", expected, repr(points)) from None
    elif worth_needed or "casting_value" in spell:
        expected = f"what it is worth in points, as {text.strip()}=20"
        raise PositionError("--wizard", expected, repr(text))
    return spell


def _with_scrolls(army: Army, scrolls: int) -> dict[str, Any]:
    """Give the army that many scrolls that can be read, its bearers' first."""
    unread = iter([_SCROLL] * scrolls)

    def keep(items: Sequence[str]) -> tuple[str, ...]:
        return tuple(item for item in items if item != _SCROLL or next(unread, None))

    changed: dict[str, Any] = {}
    for kind in ("wizards", "runesmiths", "heroes"):
        changed[kind] = [
            each.model_copy(update={"items": keep(each.items)}) if each.is_active else each
            for each in getattr(army, kind)
        ]
    return dict(army) | changed | {"items": (*keep(army.items), *unread)}


# --- the dice ------------------------------------------------------------------------------


def _with_dice(scenario: Scenario, request: PositionRequest) -> Scenario:
    """Return the scenario with the dice of its first phase as the request has them.

    In later phases they are generated as ever: only the position is taken from this one.
    """
    caster, dispeller = dict(scenario.caster), dict(scenario.dispeller)
    wizards = scenario.caster.wizards
    if request.power is not None:
        # As many as there can be, so that what was tried and cast can be played; the number that
        # is left is written then. A phase without dice is over, which the engine must see.
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


def _cast_with(battle: Battle, total: int, left: int) -> Battle | None:
    """Return the spell being cast with a total that can be dispelled; None where no dice do it."""
    bonus = int(cast_bonus(battle.packed, battle.state))
    most = battle.legal_actions()[-1] - FIRST_DICE
    for dice in range(1, most + 1):
        for faces in combinations_with_replacement(range(1, FACES + 1), dice):
            if sum(faces) + bonus == total:
                cast = _throw(battle, faces, left)
                if cast.node == Node.DISPEL:
                    return cast
    return None


def _throw(battle: Battle, faces: tuple[int, ...], left: int) -> Battle:
    """Throw these shared dice in a copy of the battle, of which `left` are left afterwards."""
    after = battle.copy()
    after.state.power = left + len(faces)
    after.act(FIRST_DICE + len(faces))
    after.roll(*faces)
    while after.node == Node.KEEP_CASTING:
        after.act(PASS)
    return after
