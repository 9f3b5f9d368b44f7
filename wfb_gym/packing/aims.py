"""Pack targeted spells: each legal aim, with its strikes.

An aim is a spell and its target; a strike is the spell's hits on one unit or character.
`wfb_gym.geometry` finds the legal targets and the models struck; `wfb_gym.rules.damage` computes
the effect of hits. This module combines them once, when a scenario is packed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, new_records
from wfb_gym.geometry import Comets, Floats, Strike, Worth
from wfb_gym.packing import records
from wfb_gym.packing.comets import inches_of, points_by_starts
from wfb_gym.packing.records import (
    FIRST_POINT,
    HIT_DICE,
    UNBOUNDED,
    AimCondition,
    HitDice,
    packed_save,
)
from wfb_gym.rules.damage import (
    ModelHit,
    Pmf,
    hit_chance,
    hits_pmf,
    models_lost,
    strength_against,
    struck_pmf,
    wounds_pmf,
)
from wfb_gym.rules.dice import FACES
from wfb_gym.rules.sharing import shared_pmfs, spares_characters
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.battlefield import target_number
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.effects import PICKED, SPELL_FLAGS, Damage, SpellEffect
from wfb_gym.scenario.errors import Problem, ScenarioError
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import AIMS, MARKS, MARKS_PER_WORD, MAX_WOUNDS, POINTS, TARGETS, UNITS
from wfb_gym.scenario.slots import SpellSlot, identities_to_mark
from wfb_gym.scenario.units import Unit
from wfb_gym.seats import SEATS


class _Victim(NamedTuple):
    """The properties of a unit or character that a strike depends on."""

    toughness: int
    armour_save: int
    ward_save: int
    wounds: int
    models: int
    points: float
    traits: tuple[str, ...]


def _target(armies: Sequence[Army], code: int) -> tuple[str, Unit | Character]:
    """Return a target's name, and its unit or character.

    For a focal model, this is its unit of Daemons.
    """
    army, index = armies[code // TARGETS], code % TARGETS
    target = army.units[index] if index < UNITS else army.characters[index - UNITS]
    if isinstance(target, Wizard) and target.daemon_unit is not None:
        return target.name, army.unit_of(target) or target
    return target.name, target


def _victim(armies: Sequence[Army], code: int) -> _Victim:
    """Return the target with this code; a character counts as one model per wound."""
    _, who = _target(armies, code)
    saves = packed_save(who.armour_save), packed_save(who.ward_save)
    if isinstance(who, Unit):
        return _Victim(who.toughness, *saves, who.wounds, who.models, who.points, who.traits)
    points = who.points / who.wounds
    return _Victim(who.toughness, *saves, 1, who.wounds, points, who.traits)


class _Pool:
    """The entries of one packed array; equal runs of values are stored once."""

    def __init__(self, array: NDArray[Any], label: str) -> None:
        self._array = array
        self._label = label
        self._known: dict[bytes, int] = {}
        self._used = 0

    def add(self, values: Any) -> int:
        """Store a run of values unless it is already there; return its first index."""
        run = np.asarray(values, self._array.dtype)
        key = run.tobytes()
        if key not in self._known:
            if self._used + len(run) > len(self._array):
                expected = f"at most {len(self._array)} {self._label}"
                raise ScenarioError("scenario", [Problem("", expected, "more of them")])
            self._known[key] = self._used
            self._array[self._used : self._used + len(run)] = run
            self._used += len(run)
        return self._known[key]


class _OpenAim(NamedTuple):
    """An aim that is or may become legal."""

    packed_target: int
    opening: AimCondition
    target: int | None  # code of a unit or character


class AimPacker:
    """Packs both armies' aims, with the strikes of each aim."""

    def __init__(self, packed: records.PackedScenario, scenario: Scenario) -> None:
        self.packed = packed
        self.scenario = scenario
        self._slots = [slots.spells for slots in scenario.slots]
        self.pmfs = _Pool(packed["pmfs"], "chances of casualties in all")
        self.hits = _Pool(packed["hits"], "numbers of models struck in all")
        self.strikes = _Pool(packed["strikes"], "units struck by all spells together")
        self.landings = _Pool(packed["landings"], "aims of Comets, each for every phase")
        self._points: list[list[int]] = [[] for _ in scenario.armies]

    def pack(self) -> None:
        """Fill the packed scenario's aims, strikes, distributions and marks."""
        for army, slots in enumerate(self._slots):
            packed = self.packed.armies[army]
            marks = identities_to_mark([slot.spell for slot in slots])
            if len(marks) > MARKS:
                expected = f"at most {MARKS} spells that do not stack on one target"
                problem = Problem(f"{SEATS[army]}.wizards", expected, str(len(marks)))
                raise ScenarioError("scenario", [problem])
            used = 0
            for index, slot in enumerate(slots):
                effect = slot.spell.effect
                spell = packed.spells[index]
                spell.landing = -1
                if effect is None:
                    continue
                self.packed.targets = True
                spell.targeted = True
                for flag in SPELL_FLAGS:
                    spell[flag] = getattr(effect, flag)
                spell.needs_flight = effect.needs == "fleeing" and effect.target in PICKED
                packed.healing |= int(effect.heals) << index
                if slot.spell.identity in marks:
                    mark = marks.index(slot.spell.identity)
                    spell.mark = mark + 1
                    if effect.once:
                        word, place = divmod(mark, MARKS_PER_WORD)
                        packed.staying[word] |= ((1 << TARGETS) - 1) << (place * TARGETS)
                used = _SpellAims(self, army, index, slot, effect).pack(packed, used)
            packed.n_aims = used

    def add_hits(self, models: Sequence[int]) -> int:
        """Store the number of models struck for each number left; return the first index."""
        most = np.iinfo(self.packed["hits"].dtype).max
        if max(models) > most:
            expected = f"at most {most} models of a unit struck at once"
            raise ScenarioError("scenario", [Problem("", expected, str(max(models)))])
        return self.hits.add(models)

    def add_points(self, army: int, points: Sequence[int], comets: Comets) -> list[int]:
        """Add points that an army's Comets may be aimed at; return their indices.

        Only the first `POINTS` points are kept (house rule C.59).
        """
        known, packed = self._points[army], self.packed.armies[army]
        for point in points:
            if point not in known and len(known) < POINTS:
                packed.inches[len(known)] = records.OUT_OF_REACH
                columns = list(comets.codes)
                packed.inches[len(known), columns] = inches_of(comets.distances[point])
                known.append(point)
        packed.n_points = len(known)
        return [known.index(point) for point in points if point in known]

    def places(self, army: int) -> Floats:
        """Return the points that an army's Comets may be aimed at, in inches, shape (n, 2)."""
        known = self._points[army]
        return self.scenario.deployment.comets(army).places[known] if known else np.empty((0, 2))

    def gains_wounds(self, army: int, index: int) -> bool:
        """Return whether the target is a character with a spell that gives it wounds."""
        return any(
            UNITS + slot.wizard == index
            and slot.spell.effect is not None
            and slot.spell.effect.gains_wound
            for slot in self._slots[army]
        )


def comet_points(scenario: Scenario) -> tuple[Floats, ...]:
    """Return the points that each army's Comets may be aimed at.

    Returns:
        One array per army, shape (n, 2), in inches, in action order.
    """
    packer = AimPacker(new_records(records.PackedScenario, 1)[0], scenario)
    packer.pack()
    return tuple(packer.places(army) for army in range(len(scenario.armies)))


class _SpellAims:
    """Packs one spell's aims."""

    def __init__(
        self, packer: AimPacker, army: int, index: int, slot: SpellSlot, effect: SpellEffect
    ) -> None:
        self._packer = packer
        self._scenario = packer.scenario
        self._armies = self._scenario.armies
        self._army = army
        self._index = index
        self._slot = slot
        self._effect = effect
        self._is_on_area = effect.target.endswith("_area")
        self._panic = bool(packer.packed.panic)
        aim = self._scenario.aim(army, slot.wizard, effect)
        self._aim = replace(aim, flight_moves=self._panic)

    def pack(self, packed: records.PackedArmy, used: int) -> int:
        """Fill the spell's aims from row `used` on; return the next free row."""
        spell = packed.spells[self._index]
        in_play_target = self._target_in_play()
        aims = sorted(self._open_aims(in_play_target))
        if used + len(aims) > AIMS:
            expected = f"at most {AIMS} pairs of a spell and a target"
            problem = Problem(f"{SEATS[self._army]}.wizards", expected, "more of them")
            raise ScenarioError("scenario", [problem])
        spell.first_aim = used
        spell.n_aims = len(aims)
        instant = self._slot.spell.duration == "instant"
        phases_paid = 1 if instant else min(2, self._scenario.phases)
        values = []
        for k, aim in enumerate(aims):
            row = packed.aims[used + k]
            row.target = aim.packed_target
            row.open = aim.opening
            self._fill_aim(row, packed.reach[self._index], aim.target)
            gains = row.expected_points or row.worth_per_phase
            if self._effect.needs == "fleeing" and aim.target is not None and gains:
                owner = self._packer.packed.armies[aim.target // TARGETS]
                owner.gains_if_fleeing |= 1 << aim.target % TARGETS
            values.append(row.expected_points + row.worth_per_phase * phases_paid)
            if self._slot.spell.in_play and aim.target == in_play_target:
                spell.in_play_aim = k + 1
        ranked = sorted(range(len(aims)), key=lambda k: -values[k])
        for k, best in enumerate(ranked):
            packed.aims[used + k].ranked = best
        if ranked:
            # Prefer the best aim that is legal from the start; otherwise take the best aim.
            best = next((k for k in ranked if aims[k].opening == AimCondition.ALWAYS), ranked[0])
            spell.worth = packed.aims[used + best].expected_points
            spell.worth_per_phase = packed.aims[used + best].worth_per_phase
            if packed.aims[used].target >= FIRST_POINT:
                spell.landing = self._best_landing(packed.aims[used : used + len(aims)])
        return used + len(aims)

    def _open_aims(self, in_play_target: int | None) -> Iterator[_OpenAim]:
        """Yield the aims that are legal, may become legal, or are the spell's aim in play."""
        if self._aim.falls_on_point:
            for number in self._find_points():
                yield _OpenAim(number, AimCondition.ALWAYS, None)
            return
        for target, legal, _, alone in self._aim.verdicts():
            if legal:
                opening = AimCondition.ALWAYS
            elif alone:
                opening = AimCondition.ALONE
            elif target is not None and target == in_play_target:
                opening = AimCondition.NEVER
            else:
                continue
            packed_target = 0
            if target is not None:
                side, index = divmod(target, TARGETS)
                packed_target = 1 + index + (0 if side == self._army else TARGETS)
            yield _OpenAim(packed_target, opening, target)

    def _find_points(self) -> list[int]:
        """Return the target codes of the points that a Comet may be aimed at."""
        if not any(verdict.legal for verdict in self._aim.verdicts()):
            return []
        if self._scenario.phases == 1:
            return [0]  # no Comet lands, so its only aim has no target
        comets = self._aim.deployment.comets(self._army)
        points = self._aim.points(self._worth_of_places(comets)).tolist()
        numbers = self._packer.add_points(self._army, points, comets)
        return [FIRST_POINT + number for number in numbers]

    def _target_in_play(self) -> int | None:
        """Return the code of the spell's target if the spell is in play when the battle begins."""
        name = self._slot.spell.in_play_on
        if name is None:
            return None
        friendly = self._effect.target.startswith("friendly")
        side = self._army if friendly else 1 - self._army
        owner = self._armies[side]
        index = owner.unit_index(name)
        if index is None:
            index = UNITS + [who.name for who in owner.characters].index(name)
        return target_number(side, index)

    def _strikes(self, target: int | None) -> list[Strike]:
        """Return the spell's strikes; empty if it causes no damage and targets no area."""
        if self._effect.damage is None and not self._is_on_area:
            return []
        return self._aim.strikes(target)

    def _fill_aim(
        self, row: records.PackedAim, reach: NDArray[np.int16], target: int | None
    ) -> None:
        """Fill one aim, and update `reach`, the maximum number of wounds to each victim."""
        name, points = None, 0.0
        strikes = self._strikes(target)
        if target is not None:
            name, who = _target(self._armies, target)
            points = who.points * (who.models if isinstance(who, Unit) else 1)
        elif self._is_on_area:
            victims = [_victim(self._armies, strike.victim) for strike in strikes]
            points = sum(victim.points * victim.models for victim in victims)
        parts = self._scenario.worth_of(self._slot.spell, name)
        row.worth = parts["points"] + parts["share"] * points
        if self._effect.rallies and not self._pays_for_rallying(target):
            row.worth = 0.0
        row.worth_per_phase = parts["points_per_phase"] + parts["share_per_phase"] * points
        row.expected_points = row.worth
        row.landing = -1
        damage = self._effect.damage
        hits = [(damage, strike) for strike in strikes] if damage is not None else []
        if self._effect.caster_damage is not None:
            hits.append((self._effect.caster_damage, Strike(self._caster_code())))
        if damage is None and not hits:
            return
        rows = new_records(records.PackedStrike, len(hits))
        won = np.zeros(len(hits))
        for k, (each, strike) in enumerate(hits):
            won[k] = self._fill_strike(rows[k], reach, each, strike)
        row.first_strike = self._packer.strikes.add(rows) if len(rows) else 0
        row.n_strikes = len(rows)
        if damage is None or not damage.delayed:
            row.expected_points += float(won.sum())
            return
        inches = self._inches(int(row.target), [strike.victim for strike in strikes])
        by_starts = points_by_starts(won, inches, self._scenario.phases - 1)
        row.landing = self._packer.landings.add(by_starts)
        row.expected_points += float(by_starts[-1])

    def _caster_code(self) -> int:
        """Return the target code of the spell's caster; for a focal model, its unit's."""
        army = self._armies[self._army]
        who = army.characters[self._slot.wizard]
        unit = None
        if isinstance(who, Wizard) and who.daemon_unit is not None:
            unit = army.unit_index(who.daemon_unit)
        return target_number(self._army, UNITS + self._slot.wizard if unit is None else unit)

    def _best_landing(self, aims: Records[records.PackedAim]) -> int:
        """Store a Comet's expected points if aimed at its best point, by phase starts left."""
        starts = np.arange(self._scenario.phases)
        by_point = self._packer.packed.landings[aims["landing"][:, None] + starts]
        return self._packer.landings.add(by_point.max(axis=0))

    def _inches(self, packed_target: int, victims: list[int]) -> NDArray[np.int8]:
        """Return the distances from a Comet's landing point to k victims, in inches, shape (k,)."""
        if packed_target >= FIRST_POINT:
            army = self._packer.packed.armies[self._army]
            inches: NDArray[np.int8] = army.inches[packed_target - FIRST_POINT, victims]
            return inches
        away = 0 if packed_target else records.OUT_OF_REACH  # it falls on its target, or nowhere
        return np.full(len(victims), away, np.int8)

    def _worth_of_places(self, comets: Comets) -> Worth:
        """Return a function that maps distances to the pieces to a Comet's expected points."""
        damage = self._effect.damage
        assert damage is not None  # a Comet strikes
        (row,) = new_records(records.PackedStrike, 1)
        reach = np.zeros(2 * TARGETS, np.int16)
        won = np.array(
            [self._fill_strike(row, reach, damage, Strike(code)) for code in comets.codes]
        )
        inches = np.arange(records.OUT_OF_REACH + 1, dtype=np.int8)[:, None]
        strikes = points_by_starts([1.0], inches, self._scenario.phases - 1)[:, -1]
        return lambda distances: strikes[inches_of(distances)] @ won

    def _pays_for_rallying(self, target: int | None) -> bool:
        """Return whether rallying a target earns the spell's points (house rule C.124)."""
        # Under the panic rules, only a unit that is fleeing at the start earns them. Otherwise its
        # owner would profit from the unit's panic. Victory points already count rallied units.
        if not self._panic or target is None:
            return True
        is_fleeing = self._scenario.deployment.pieces[target].fleeing
        return is_fleeing and not self._packer.packed.victory_points

    def _members(self, strike: Strike) -> tuple[int, ...]:
        """Return the codes of the characters in a unit that share its hits once it is small."""
        # Hits on a chosen model, or on models by their position, are not shared (house rule C.63).
        is_character = strike.victim % TARGETS >= UNITS
        if is_character or strike.hits is not None or self._effect.target == "enemy_model":
            return ()
        return self._aim.deployment.pieces[strike.victim].joined

    def _fill_strike(
        self, row: records.PackedStrike, reach: NDArray[np.int16], damage: Damage, strike: Strike
    ) -> float:
        """Fill a strike; return the expected points gained, negative if the victim is friendly."""
        effect, packer = self._effect, self._packer
        side, index = divmod(strike.victim, TARGETS)
        victim = _victim(self._armies, strike.victim)
        _fill_hit(row, damage, strike.victim, victim)
        chance, per_hit = float(row.chance), int(row.wounds_per_hit)
        chances = [float(hit_chance(hit)) for hit in _possible_hits(damage, victim)]
        total = victim.wounds * victim.models
        row.alone = index >= UNITS and effect.target in ("enemy_area", "point")
        shared = 0.0
        if strike.hits is None:
            most = victim.wounds if effect.target == "enemy_model" and index < UNITS else total
            if packer.gains_wounds(side, index):  # it may have more wounds than at the start
                most = MAX_WOUNDS
            extra = effect.near.extra if effect.near is not None and strike.touches else None
            hits = hits_pmf(damage.hits, extra)
            pmfs = [wounds_pmf(hits, each, per_hit, most) for each in chances]
            pmf = sum(pmfs[1:], start=pmfs[0]) / len(pmfs)
            pmf = pmf[: int(np.flatnonzero(pmf)[-1]) + 1]
            row.dice = HIT_DICE[damage.hits]
            row.extra_dice = HitDice.NONE if extra is None else HIT_DICE[extra]
            row.pmf = packer.pmfs.add(pmf)
            row.pmf_size = len(pmf)
            longest = len(pmf) - 1
            members = self._members(strike)
            if members:
                longest = max(1, longest)  # hits are shared even if none of them wounds
                on_models, on_one = shared_pmfs(hits, victim.models, len(members))
                shared = self._fill_members(row, damage, members, hits, on_one)
            if members and not spares_characters(victim.models):
                pmf = wounds_pmf(on_models, chance, per_hit, most)
            else:
                shared = 0.0
        else:
            row.dice = HitDice.MODELS
            row.hits = packer.add_hits(strike.hits)
            struck = struck_pmf(strike.hits[-1])
            if strike.partial is not None and damage.partial is not None:
                row.touched_on = damage.partial
                row.touched = packer.add_hits(strike.partial)
                row.touched_chance = (FACES + 1 - damage.partial) / FACES * chance
                struck = struck_pmf(strike.hits[-1], strike.partial[-1], damage.partial)
            pmf = wounds_pmf(struck, chance, per_hit, total)
            longest = UNBOUNDED
        if not damage.delayed and reach[strike.victim] != UNBOUNDED:
            reach[strike.victim] = (
                UNBOUNDED if longest == UNBOUNDED else max(int(reach[strike.victim]), longest)
            )
        lost = _points_lost(victim, pmf) + shared
        return lost if side != self._army else -lost

    def _fill_members(
        self,
        row: records.PackedStrike,
        damage: Damage,
        members: tuple[int, ...],
        hits: Pmf,
        on_one: Pmf,
    ) -> float:
        """Fill the strikes on a unit's characters; return the points they lose if it is full.

        `hits` is the distribution of hits on all members, and `on_one` is the distribution for one
        character in a full unit.
        """
        rows = new_records(records.PackedStrike, len(members))
        lost = 0.0
        for code, entry in zip(members, rows, strict=True):
            victim = _victim(self._armies, code)
            _fill_hit(entry, damage, code, victim)
            entry.dice, entry.extra_dice = row.dice, row.extra_dice
            entry.pmf, entry.pmf_size = self._packer.pmfs.add(hits), len(hits)
            pmf = wounds_pmf(on_one, float(entry.chance), int(entry.wounds_per_hit), victim.models)
            lost += _points_lost(victim, pmf)
        row.first_member = self._packer.strikes.add(rows)
        row.n_members = len(members)
        side, unit = divmod(int(row.victim), TARGETS)
        self._packer.packed.armies[side].units[unit].shares = 1
        return lost


def _fill_hit(row: records.PackedStrike, damage: Damage, code: int, victim: _Victim) -> None:
    """Fill in a strike's victim and the effect of each hit."""
    hits = _possible_hits(damage, victim)
    # A flaming hit costs a flammable model two wounds, but no more than it has (house rule C.68).
    burns = damage.flaming and "flammable" in victim.traits
    row.victim = code
    row.wounds_per_hit = min(2, victim.wounds) if burns else 1
    row.chance = float(sum(map(hit_chance, hits)) / len(hits))
    for field, value in hits[0]._asdict().items():
        row[field] = value or 0
    if damage.strength_dice is not None:
        row.strength = -len(hits)
    row.pmf = row.hits = row.touched = -1


def _points_lost(victim: _Victim, wounds: Pmf) -> float:
    """Return the expected points that a victim loses."""
    total = victim.wounds * victim.models
    return sum(
        float(p) * models_lost(total, k, victim.wounds) * victim.points
        for k, p in enumerate(wounds)
    )


def _possible_hits(damage: Damage, victim: _Victim) -> list[ModelHit]:
    """Return the properties of a hit on the victim, for each equally likely Strength."""
    strengths = [damage.strength]
    if damage.strength_by_armour is not None:
        strengths = [strength_against(damage.strength_by_armour, victim.armour_save)]
    if damage.strength_dice is not None:
        strengths = [*range(1, int(damage.strength_dice[1:]) + 1)]
    return [_hit(damage, victim, strength) for strength in strengths]


def _hit(damage: Damage, victim: _Victim, strength: int | None) -> ModelHit:
    """Return the properties of one hit on the victim."""
    return ModelHit(
        strength,
        victim.toughness,
        victim.armour_save,
        victim.ward_save,
        damage.armour_save,
        damage.ward_save,
        damage.automatic,
    )
