"""The value of a battle before wizards roll their spells, as an average over the rolls.

The engine rolls and swaps. If there are few rolls, all of them are evaluated, with optimal swaps.
Otherwise, a sample of rolls is evaluated, with swaps made by the player `veteran`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import stdev
from typing import TYPE_CHECKING, NamedTuple

from wfb_gym._progress import show_line
from wfb_gym.engine.actions import FIRST_CAST, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.state import Node, new_work_spaces
from wfb_gym.opponents.dispatch import Scripted, ScriptedPlayer
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.scenario.sizes import LORE_SPELLS, WIZARDS
from wfb_gym.transcripts.recording import rng_of_seed, scripted_chooser

if TYPE_CHECKING:
    from wfb_gym.advising.position import RequestedPosition

_Z95 = 1.959964  # half-width of a 95 % confidence interval, in standard errors
_SEED = 0
_MOST_PATHS = 20_000
"""Maximum number of sequences of rolls and swaps to count; more would be too many to evaluate."""


class _Situation(NamedTuple):
    """A situation's value for the first army, the best play, and how the value was computed."""

    value: float
    best: str
    is_exact: bool
    method: str


class SpellRoll(NamedTuple):
    """A single roll of all wizards' spells."""

    # names of the spells rolled, by army and wizard
    drawn: Mapping[tuple[int, int], tuple[str, ...]]
    # the spell that was swapped for the lore's first spell, by army and wizard
    swapped: Mapping[tuple[int, int], str]
    probability: float  # the roll's probability
    situation: _Situation  # the situation after the roll


class SpellGain(NamedTuple):
    """A spell that a wizard may roll, and the army's average points with and without it."""

    wizard: str
    army: int  # the wizard's army, 0 or 1
    spell: str
    with_it: float  # average points over the rolls that include the spell
    without_it: float  # average points over the other rolls
    times: int  # number of rolls that include the spell

    @property
    def gain(self) -> float:
        """Points gained by rolling the spell."""
        return self.with_it - self.without_it


@dataclass(frozen=True)
class RollsSummary:
    """The average over rolls."""

    value: float  # average points for the first army
    # half-width of the 95 % confidence interval, or 0 if all rolls were evaluated
    half_width: float
    is_complete: bool  # whether all rolls were evaluated
    rolls: tuple[SpellRoll, ...]  # the evaluated rolls
    # the gain from each spell that a wizard may still roll, best first
    spells: tuple[SpellGain, ...]

    @property
    def is_exact(self) -> bool:
        """Whether all rolls were evaluated exactly."""
        return self.is_complete and all(roll.situation.is_exact for roll in self.rolls)

    @property
    def method(self) -> str:
        """How the first estimated value was computed, or "exact" if all values are exact."""
        situations = [roll.situation for roll in self.rolls]
        return next((each.method for each in situations if not each.is_exact), "exact")


class SpellRolls:
    """Evaluates the rolls of spells that a request leaves open.

    Args:
        position: the requested position, with `selecting` set.
        judge: function that evaluates a situation at the start of the first phase.
    """

    def __init__(
        self, position: "RequestedPosition", judge: Callable[[Battle], _Situation]
    ) -> None:
        self._position, self._judge, self._names = position, judge, position.names
        self._known: dict[bytes, _Situation] = {}
        self._expected = 0  # number of situations, for the progress line

    def summary(self, battle: Battle, most: int, samples: int) -> RollsSummary:
        """Return the average over the rolls still to come.

        Args:
            battle: the battle while spells are being selected; it is not modified.
            most: maximum number of situations to evaluate. If there are more, rolls are sampled.
            samples: number of rolls to sample.
        """
        count = self.count(battle)
        is_complete = count <= most
        self._expected = len(self._known) + (int(count) if is_complete else samples)
        if is_complete:
            rolls, half_width = list(self._all(battle)), 0.0
        else:
            rolls = list(self._sampled(battle, samples))
            spread = stdev(roll.situation.value for roll in rolls) if samples > 1 else math.inf
            half_width = _Z95 * spread / math.sqrt(samples)
        show_line("")
        spells = tuple(sorted(self._spell_gains(rolls), key=lambda each: -each.gain))
        return RollsSummary(_mean(rolls), half_width, is_complete, tuple(rolls), spells)

    def count(self, battle: Battle) -> float:
        """Return the number of situations after all rolls and swaps, or infinity if too many."""
        found: set[bytes] = set()
        for number, beginning in enumerate(self._beginnings(battle.copy())):
            if number > _MOST_PATHS:
                return math.inf
            found.add(beginning.key())
        return len(found)

    def first(self, battle: Battle) -> Battle:
        """Return one of the situations."""
        return self._position.reach(next(self._beginnings(battle.copy())))

    def _beginnings(self, battle: Battle) -> Iterator[Battle]:
        """Yield the start of the first phase for every sequence of rolls and swaps."""
        self._position.pass_known(battle)
        if battle.node not in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
            yield battle
            return
        for _, after, _ in _steps(battle):
            yield from self._beginnings(after)

    def _all(self, battle: Battle) -> list[SpellRoll]:
        """Return all rolls, with the best swaps by each army."""
        battle = battle.copy()
        self._position.pass_known(battle)
        place = divmod(int(battle.state.cursor), WIZARDS)
        if battle.node == Node.ROLL_SPELLS:
            return [
                roll._replace(
                    drawn={place: self._names.drawn_spells(*place, outcome), **roll.drawn},
                    probability=roll.probability * probability,
                )
                for outcome, after, probability in _steps(battle)
                for roll in self._all(after)
            ]
        if battle.node == Node.SWAP_SPELL:
            options = {action: self._all(after) for action, after, _ in _steps(battle)}
            sign = 1.0 if battle.mover == 0 else -1.0
            means = {action: round(sign * _mean(rolls), 9) for action, rolls in options.items()}
            best = max(means, key=lambda action: (means[action], -action))
            return [
                roll._replace(swapped=self._swapped(place, best) | dict(roll.swapped))
                for roll in options[best]
            ]
        return [SpellRoll({}, {}, 1.0, self._value(battle))]

    def _sampled(self, battle: Battle, samples: int) -> Iterator[SpellRoll]:
        """Yield sampled rolls, with swaps made by the player `veteran`."""
        tables, storage = no_move_tables()
        veteran = scripted_chooser(ScriptedPlayer(int(Scripted.VETERAN), tables[0], storage))
        rng, work = rng_of_seed(_SEED), new_work_spaces()[0]
        for _ in range(samples):
            start = battle.copy()
            drawn: dict[tuple[int, int], tuple[str, ...]] = {}
            swapped: dict[tuple[int, int], str] = {}
            while True:
                self._position.pass_known(start)
                place = divmod(int(start.state.cursor), WIZARDS)
                if start.node == Node.ROLL_SPELLS:
                    outcome = int(sample(start.packed, start.state, rng, work))
                    drawn[place] = self._names.drawn_spells(*place, outcome)
                    start.resolve(outcome)
                elif start.node == Node.SWAP_SPELL:
                    action = veteran(start, rng)
                    swapped |= self._swapped(place, action)
                    start.act(action)
                else:
                    break
            yield SpellRoll(drawn, swapped, 1.0 / samples, self._value(start))

    def _value(self, beginning: Battle) -> _Situation:
        key = beginning.key()
        if key not in self._known:
            show_line(f"evaluating roll {len(self._known) + 1} of {self._expected}")
            self._known[key] = self._judge(self._position.reach(beginning))
        return self._known[key]

    def _swapped(self, place: tuple[int, int], action: int) -> dict[tuple[int, int], str]:
        if action == PASS:
            return {}
        return {place: self._names.spell_name(place[0], action - FIRST_CAST)}

    def _spell_gains(self, rolls: list[SpellRoll]) -> Iterator[SpellGain]:
        """Yield each spell's gain, leaving out spells in all or none of the rolls."""
        for place in dict.fromkeys(place for roll in rolls for place in roll.drawn):
            army, wizard = place
            sign = 1.0 if army == 0 else -1.0
            for spell in self._names.drawn_spells(*place, (1 << LORE_SPELLS) - 1):
                having = [roll for roll in rolls if spell in roll.drawn[place]]
                lacking = [roll for roll in rolls if spell not in roll.drawn[place]]
                if having and lacking:
                    name = self._names.characters[army][wizard]
                    means = sign * _mean(having), sign * _mean(lacking)
                    yield SpellGain(name, army, spell, *means, len(having))


def _steps(battle: Battle) -> Iterator[tuple[int, Battle, float]]:
    """Yield each outcome or action with its successor and its probability (1 for actions)."""
    is_chance = battle.is_chance()
    codes = [(code, 1.0) for code in battle.legal_actions()]
    for code, probability in battle.chance_outcomes() if is_chance else codes:
        after = battle.copy()
        if is_chance:
            after.resolve(code)
        else:
            after.act(code)
        yield code, after, probability


def _mean(rolls: list[SpellRoll]) -> float:
    """Return the rolls' mean value for the first army, weighted by probability."""
    total = sum(roll.probability for roll in rolls)
    return sum(roll.probability * roll.situation.value for roll in rolls) / total
