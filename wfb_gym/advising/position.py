"""The position that a player describes: a scenario, and the events so far in a phase.

The engine plays up to the position. Spells that were tried are nominated and fail, and dice are
thrown to give the total of the spell that was cast. Only the dice pools are written directly, so
that the remaining dice match the request.
"""

from collections.abc import Sequence
from itertools import chain, combinations_with_replacement
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.advising.request import (
    SCROLL,
    KnownSpells,
    PositionError,
    PositionRequest,
    check_completeness,
    check_request,
    known_spells,
    scenario_of_request,
    with_request_dice,
    wizards_title,
)
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_TARGET, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import cast_bonus
from wfb_gym.engine.queries import can_answer_cast
from wfb_gym.engine.state import STATE, DispelAttempt, Node
from wfb_gym.packing import pack
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.characters import Wizard
from wfb_gym.scenario.sizes import DICE, LORE_SPELLS, NO_BEARER, WIZARDS
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import find_name, one_of, plain
from wfb_gym.transcripts import TextCodeError, position_from_id, position_id
from wfb_gym.view.effects import spell_words
from wfb_gym.view.hidden_sets import ALL_ARMIES, known_items, may_be_dealt
from wfb_gym.view.names import NO_TARGET, ScenarioNames, dice_phrase, power_phrase


class _SpellLabels(NamedTuple):
    """The texts that may refer to a spell, and are listed if several spells match."""

    name: str
    title: str
    by_wizard: str
    title_by_wizard: str


class RequestedPosition:
    """The position that a request describes: in a scenario's first phase, or given by its id.

    Attributes:
        request: the request.
        scenario: the scenario with the armies in the request.
        title: the scenario's name or, without a scenario, the wizards in words.
        values: the values used for spells of a lore without points in the request.
        names: display names used in the scenario.
        known: the spells that the request gives to wizards who roll them, by army and wizard.
        selecting: the battle at the first roll or swap of spells that the request leaves open, to
            continue from using `reach`. None if all spells are known.
        battle: the position at a decision, a casting roll or the end. If `selecting` is set, the
            same as `selecting`. The hidden items are a set that fits the items shown.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
        PositionError: if no sequence of plays leads to the requested position.
        TextCodeError: if the request's position id is invalid.
    """

    def __init__(self, request: PositionRequest) -> None:
        check_request(request)
        self.request = request
        if request.position is not None:
            self._read_id(request.position)
            return
        self.scenario, self.values = scenario_of_request(request)
        self.title = wizards_title(request) if request.scenario is None else self.scenario.name
        self.names = names = ScenarioNames(self.scenario)
        self._spells = [_labels(names, index) for index in range(len(names.spells[0]))]
        for option, spell in self._requested_spells():  # a typing mistake is reported first
            self._find(option, spell)
        check_completeness(request)
        self._packed = pack(self.scenario)
        self.known = known_spells(request, self.scenario)
        self.selecting: Battle | None = None
        self.battle = Battle(pack(with_request_dice(self.scenario, request)))
        self._deal()
        self.pass_known(self.battle)
        if self.battle.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
            self._check_selection()
            self.selecting = self.battle
        elif self.battle.is_chance():
            expected = "a scenario that begins with a decision"
            found = f"a scenario that begins with {self.battle.node.name}"
            raise PositionError(self.title, expected, found)
        else:
            self.battle = self.reach(self.battle)

    def _read_id(self, text: str) -> None:
        """Take the scenario and the position from an id."""
        self.scenario, self.battle, _, _ = position_from_id(text)
        self.title, self.values = self.scenario.name, ()
        self.names = ScenarioNames(self.scenario)
        self._packed = self.battle.packed_scenarios
        self.known, self.selecting = {}, None
        if self.battle.node == Node.SWAP_SPELL:
            self.selecting = self.battle
            army, wizard = divmod(int(self.battle.state.cursor), WIZARDS)
            who = self.battle.packed.armies[army].wizards[wizard]
            drawn = int(self.battle.state.known[army]) >> int(who.first_spell)
            self.known[army, wizard] = KnownSpells(drawn & ((1 << LORE_SPELLS) - 1), True)

    @property
    def id(self) -> str | None:
        """The position's id, or None if it is not at a decision or differs from the scenario.

        For example, a request may have more dice than the scenario allows.
        """
        if self.request.position is not None:
            return self.request.position.strip()
        if not self.battle.is_decision():
            return None
        text = position_id(self.scenario, self.battle)
        try:
            position_from_id(text)
        except TextCodeError:
            return None
        return text

    def reach(self, beginning: Battle) -> Battle:
        """Return the requested position, given a start of the phase with the spells selected."""
        kept, self.battle = self.battle, beginning.copy()
        self._play_on()
        reached = Battle(self._packed)
        reached.state.setfield(self.battle.state, STATE)
        self.battle = kept
        return reached

    def pass_known(self, battle: Battle) -> None:
        """Select the spells given in the request, up to a roll or swap that it leaves open."""
        while battle.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
            known = self.known.get(divmod(int(battle.state.cursor), WIZARDS))
            if known is None:
                return
            if battle.node == Node.ROLL_SPELLS:
                battle.resolve(known.drawn)
            elif known.may_swap:
                return
            else:
                battle.act(PASS)

    def hides_items(self, army: int) -> bool:
        """Return whether several sets of hidden items fit the items that an army has shown."""
        kinds = range(len(self.scenario.armies[army].hidden))
        return sum(may_be_dealt(self.battle, army, kind) for kind in kinds) > 1

    def pools(self) -> dict[str, Any]:
        """Return the remaining power dice, wizards' own dice, dispel dice and scrolls.

        Hidden scrolls are not counted.
        """
        state = self.battle.state
        active = int(state.active)
        wizards, enemy = len(self.scenario.armies[active].wizards), 1 - active
        slots, bearers = self.names.items[enemy], self.scenario.armies[enemy].characters
        known = known_items(self.names, self.battle, enemy, not self.hides_items(enemy))
        return {
            "power": int(state.power),
            "own": [int(dice) for dice in state.own_dice[:wizards]],
            "dispel": int(state.dispel),
            "scrolls": sum(
                each.left
                for index, each in known.items()
                if slots[index].item.name == SCROLL
                and (slots[index].bearer == NO_BEARER or bearers[slots[index].bearer].is_active)
            ),
        }

    def summary(self) -> str:
        """Describe the remaining dice and scrolls, and any spell being cast."""
        pools, state = self.pools(), self.battle.state
        total = int(state.number) if self.request.total is None else self.request.total
        power = power_phrase(pools["power"], pools["own"])
        which = "known scroll" if self.hides_items(1 - int(state.active)) else "scroll"
        scrolls = f"{pools['scrolls'] or 'no'} {which}{'' if pools['scrolls'] == 1 else 's'}"
        text = f"{power} against {dice_phrase(pools['dispel'], 'dispel')} and {scrolls}"
        if state.spell:
            spell = self.names.spell(int(state.active), int(state.spell) - 1)
            spell += self.names.at_pending_target(self.battle)
            status = "is being cast"
            if state.attempt == DispelAttempt.CAST:
                status = f"was cast{f' with a total of {total}' if total else ''}"
            text += f"; {spell} {status}"
        return f"{self.title}: {text}"

    def horizon(self) -> str:
        """Name the part of the battle covered by a value."""
        if self.selecting is None and self.battle.node != Node.NOMINATE:
            return "The situation"
        whole, request = "phase" if self.scenario.phases == 1 else "battle", self.request
        if request.position is not None:
            begins = self.selecting or self.battle.key() == Battle(self._packed).key()
            return f"The {whole}" if begins else f"The rest of the {whole}"
        # Without a scenario, the dice are those at the start of the phase.
        dice = (request.power, request.dispel, request.own or None)
        has_left = request.scenario is not None and any(each is not None for each in dice)
        return f"The rest of the {whole}" if request.tried or has_left else f"The {whole}"

    def roller(self, battle: Battle) -> str:
        """Return the name of the wizard whose spells are being selected."""
        army, wizard = divmod(int(battle.state.cursor), WIZARDS)
        return self.names.characters[army][wizard]

    def selection(self) -> str:
        """Describe the spells that remain to be rolled or that may be swapped."""
        if self.battle.node == Node.SWAP_SPELL:
            army, wizard = divmod(int(self.battle.state.cursor), WIZARDS)
            spells = self.scenario.armies[army].wizards[wizard].candidate_spells
            rolled = self.names.drawn_spells(army, wizard, self.known[army, wizard].drawn)
            first = f"the first of its lore is {spells[0].name}, {spell_words(spells[0])}"
            return f"{self.roller(self.battle)} has rolled {' and '.join(rolled)}; {first}"
        open_rolls = [
            f"{who.name} {self.scenario.spells_drawn(who)} of {who.lore}" for who in self._rollers()
        ]
        return f"spells to roll, {', '.join(open_rolls)}"

    def _rollers(self) -> list[Wizard]:
        """Return the wizards that roll their spells, if the request does not give them."""
        return [
            who
            for army, side in enumerate(self.scenario.armies)
            for wizard, who in enumerate(side.wizards)
            if who.rolls_spells and (army, wizard) not in self.known
        ]

    # --- playing ---------------------------------------------------------------------------

    def _deal(self) -> None:
        """Deal hidden items that fit the items shown, then use up the items shown."""
        battle, packed = self.battle, self._packed[0]
        used = np.zeros_like(battle.state.items)
        for text in self.request.shown:
            used[self._find_hidden(text, used)] += 1
        while battle.node == Node.DEAL:
            army = battle.mover
            uses = packed.armies[army].kind_uses[: packed.armies[army].n_kinds]
            fits = (uses >= used[army]).all(1)
            if not fits.any():
                expected = f"items that are all in one set of the {SEATS[army]}"
                raise PositionError("--shown", expected, ", ".join(self.request.shown))
            battle.resolve(int(fits.argmax()))
        battle.state.items -= used

    def _find_hidden(self, text: str, used: NDArray[Any]) -> tuple[int, int]:
        """Return the `(army, index)` of a used hidden item, named with or without its army."""
        labels = {
            (army, index): (f"{SEATS[army]}/{slot.item.name}", slot.item.name)
            for army in ALL_ARMIES
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
        """Reject options that depend on spells that the request leaves open."""
        request, who = self.request, self.roller(self.battle)
        for option in ("tried", "nominated", "cast"):
            if getattr(request, option):
                rollers = self._rollers()
                each = " ".join(f"--spells {quote(roller.name)} ..." for roller in rollers)
                expected = f"with it the spells of each wizard that rolls them: {each}"
                enemies = self.scenario.armies[1 - int(self.battle.state.active)].wizards
                if any(roller in enemies for roller in rollers):
                    expected += " (or, in the file, no lore for an enemy that casts nothing now)"
                raise PositionError(f"--{option}", expected, "none")
        if request.rolled and self.battle.node == Node.ROLL_SPELLS:
            expected = f"--spells {who} or --rolled {who} with it, because {who} rolls first"
            raise PositionError("--rolled", expected, "neither")

    def _play_on(self) -> None:
        """Play from the start of the phase to the position."""
        request, battle = self.request, self.battle
        left = request.power or 0
        if (request.tried or request.cast) and not request.own and battle.state.own_dice.any():
            option = "--tried" if request.tried else "--cast"
            expected = "--own with it, the dice left in each wizard's own pool"
            raise PositionError(option, expected, "none")
        if battle.node == Node.NOMINATE:
            battle.state.power = battle.state.power if request.power is None else left
            battle.state.dispel = battle.state.dispel if request.dispel is None else request.dispel
        for number, spell in enumerate(request.tried, 1):
            more = number < len(request.tried) or request.cast is not None
            if self.names.spells[0][self._find("--tried", spell)[0]].item is not None:
                self._use_bound(spell, left + more)
                continue
            self._to_dice("--tried", spell, None)
            self.battle = _throw(self.battle, (1,), left + more)  # a single 1 always fails
        if request.nominated is not None:
            self._nominate("--nominated", request.nominated, request.at)
        if request.cast is not None and request.total is not None:
            self._cast(request.cast, request.total, left)

    def _requested_spells(self) -> list[tuple[str, str]]:
        """Return the option and the text of each of the caster's spells in the request."""
        request = self.request
        found = [("--tried", spell) for spell in request.tried]
        if request.nominated is not None:
            found.append(("--nominated", request.nominated))
        if request.cast is not None:
            found.append(("--cast", request.cast))
        return found

    def _find(self, option: str, text: str) -> list[int]:
        """Return the indices of one of the caster's spells: all its casts.

        The text is its name or its title, with or without its wizard. For `--tried`, the indices
        include all casting values, because an attempt uses up all of them.
        """
        wanted = find_name(dict.fromkeys(chain(*self._spells)), text)
        found = [index for index, labels in enumerate(self._spells) if wanted in labels]
        if not found:
            known = dict.fromkeys(labels.name for labels in self._spells)
            raise PositionError(option, one_of(known, text, "a spell of the caster"), repr(text))
        if option == "--tried" and all(self.names.spells[0][index].item is None for index in found):
            several = {self._spells[index].by_wizard for index in found}
        else:
            several = {self._spells[index].title_by_wizard for index in found}
        if len(several) > 1:
            raise PositionError(option, f"one of {', '.join(self._distinct(found))}", repr(text))
        return found

    def _distinct(self, found: Sequence[int]) -> Sequence[str]:
        """Return the shortest labels that distinguish spells, in order."""
        columns = [
            tuple(dict.fromkeys(column))
            for column in zip(*map(self._spells.__getitem__, found), strict=True)
        ]
        return next(each for each in columns if len(each) == len(columns[-1]))

    def _nominate(self, option: str, text: str, at: str | None) -> int:
        """Nominate a spell and choose its target if one is given; return the spell's index."""
        battle = self.battle
        found = self._find(option, text)
        codes = battle.legal_actions() if battle.node == Node.NOMINATE else []
        spell = next((each for each in found if FIRST_CAST + each in codes), found[0])
        if FIRST_CAST + spell not in codes:
            if self.request.power == 0 and self.names.spells[0][spell].item is None and not codes:
                raise PositionError(option, "power dice to cast it with", "none: --power 0")
            can_be_cast = [code - FIRST_CAST for code in codes if code >= FIRST_CAST]
            open_now = dict.fromkeys(self._spells[each].name for each in can_be_cast)
            expected = f"a spell that can be cast now ({', '.join(open_now) or 'none'})"
            raise PositionError(option, expected, self._spells[spell].name)
        battle.act(FIRST_CAST + spell)
        if at is None:
            return spell
        if battle.node == Node.TARGET:
            names = self._targets()
        else:  # the engine has already chosen the only target, if any
            names = {-1: self.names.pending_target(battle) or NO_TARGET}
        for code, name in names.items():
            if plain(at) in (plain(name), plain(_short(name))):
                if code >= 0:
                    battle.act(code)
                return spell
        raise PositionError("--at", " or ".join(names.values()), repr(at))

    def _targets(self) -> dict[int, str]:
        """Return the legal targets' names, by action."""
        codes = self.battle.legal_actions()
        packed = self.battle.packed
        return {code: self.names.aimed_at(packed, 0, code - FIRST_TARGET) for code in codes}

    def _use_bound(self, text: str, left: int) -> None:
        """Use a bound spell that is then dispelled, without a change of the dispel dice left."""
        battle = self.battle
        battle.state.power = left
        level = self.names.spells[0][self._find("--tried", text)[0]].casting_value
        dice = -(-level // (FACES - 1))
        battle.state.dispel += dice
        self._nominate("--tried", text, None)
        if battle.node == Node.TARGET:
            battle.act(battle.legal_actions()[0])
        is_dispellable = battle.node == Node.DISPEL
        if not is_dispellable:
            raise PositionError("--tried", "a spell that the enemy may dispel", text)
        battle.act(FIRST_DICE + dice)
        battle.roll(*(FACES - 1,) * int(battle.state.dice))
        while battle.node == Node.KEEP_DISPEL:
            battle.act(PASS)

    def _to_dice(self, option: str, text: str, at: str | None) -> int:
        """Nominate a spell and play up to the choice of pool dice, without items or own dice."""
        battle = self.battle
        battle.state.power = DICE  # with few dice, the engine might skip the choice
        spell = self._nominate(option, text, at)
        if battle.node == Node.TARGET:
            if option == "--cast":
                targets = " or ".join(self._targets().values())
                raise PositionError(option, f"--at with it ({targets})", "none")
            battle.act(battle.legal_actions()[0])  # any target will do, as the spell fails
        if battle.node == Node.ITEM:
            battle.act(PASS)
        if battle.node == Node.RESERVE_DICE:
            battle.act(FIRST_DICE)
        if battle.node != Node.POOL_DICE:
            raise PositionError(option, "a spell that is cast with dice", self._spells[spell].name)
        return spell

    def _cast(self, text: str, total: int, left: int) -> None:
        """Cast a spell with the given casting total, leaving `left` power dice."""
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
            f"a total from {lowest} to {highest}, the range in which up to {dice_phrase(most)} "
            f"cast {slot.title} without irresistible force"
        )
        raise PositionError("--total", expected, total)


def _labels(names: ScenarioNames, spell: int) -> _SpellLabels:
    """Return the labels of one of the caster's spells."""
    slot, who = names.spells[0][spell], names.caster(0, spell)
    return _SpellLabels(
        slot.spell.name, slot.title, f"{who}/{slot.spell.name}", f"{who}/{slot.title}"
    )


def _short(target: str) -> str:
    """Return a point's name without its list of targets; other names are unchanged."""
    return target.partition(" (")[0] if target.startswith("point ") else target


def _cast_with(battle: Battle, total: int, left: int) -> Battle | None:
    """Return the battle after a cast with this total that can be dispelled, or None."""
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
    """Throw these pool dice in a copy of the battle, leaving `left` dice."""
    after = battle.copy()
    after.state.power = left + len(faces)
    after.act(FIRST_DICE + len(faces))
    after.roll(*faces)
    while after.node == Node.KEEP_CASTING:
        after.act(PASS)
    return after
