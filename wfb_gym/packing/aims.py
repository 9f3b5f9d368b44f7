"""Spells with targets in packed form: each aim that the battlefield allows, and what it strikes.

Who may be aimed at is the battlefield's to say (`wfb_gym.geometry`), what hits do is the
rules' (`wfb_gym.rules.damage`); here the two meet, once, when a scenario is packed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wfb_gym.geometry import Strike, strikes, verdicts
from wfb_gym.packing.records import HIT_DICE, UNBOUNDED, HitDice, Opening
from wfb_gym.rules.damage import (
    Hit,
    hit_chance,
    hits_pmf,
    models_lost,
    strength_against,
    struck_pmf,
    wounds_pmf,
)
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.army import Army, Character, Unit, Wizard
from wfb_gym.scenario.effects import Damage, Effect
from wfb_gym.scenario.errors import Problem, ScenarioError
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.sizes import (
    AIMS,
    HITS,
    MARKS,
    MARKS_PER_WORD,
    MOST_WOUNDS,
    NO_SAVE,
    PMFS,
    STRIKES,
    TARGETS,
    UNITS,
)
from wfb_gym.scenario.slots import SpellSlot, spell_slots
from wfb_gym.seats import SEATS

_MOST_MARKERS = 12


class _Victim(NamedTuple):
    """What a strike needs to know of a unit or character."""

    toughness: int
    armour_save: int
    ward_save: int
    wounds: int
    models: int
    points: float
    traits: tuple[str, ...]

    @property
    def worth(self) -> float:
        return self.points * self.models


def _save(save: int | None) -> int:
    return NO_SAVE if save is None else save


def _victim(army: Army, index: int) -> _Victim:
    """The target of that index; a character's points stand by the wound, as they are lost."""
    if index < UNITS:
        unit: Unit = army.units[index]
        return _Victim(
            unit.toughness, _save(unit.armour_save), _save(unit.ward_save),
            unit.wounds, unit.models, unit.points, unit.traits,
        )  # fmt: skip
    who: Character = army.characters[index - UNITS]
    own_unit = army.unit_of(who)
    if isinstance(who, Wizard) and who.daemon_unit is not None and own_unit is not None:
        return _victim(army, army.units.index(own_unit))
    return _Victim(
        who.toughness, _save(who.armour_save), _save(who.ward_save),
        1, who.wounds, who.points / who.wounds, who.traits,
    )  # fmt: skip


class _Pool:
    """Entries of one packed array, equal runs shared."""

    def __init__(self, array: Any, size: int, what: str) -> None:
        self._array = array
        self._size = size
        self._what = what
        self._known: dict[bytes, int] = {}
        self._used = 0

    def add(self, values: Any) -> int:
        """Place of a run of values; equal runs have one place."""
        run = np.asarray(values, self._array.dtype)
        key = run.tobytes()
        if key not in self._known:
            if self._used + len(run) > self._size:
                expected = f"at most {self._size} {self._what}"
                raise ScenarioError("scenario", [Problem("", expected, "more of them")])
            self._known[key] = self._used
            self._array[self._used : self._used + len(run)] = run
            self._used += len(run)
        return self._known[key]


class AimPacker:
    """Fills the aims of both armies, and the strikes that they share."""

    def __init__(self, record: Any, scenario: Scenario) -> None:
        self._record = record
        self._scenario = scenario
        self._armies = (scenario.caster, scenario.dispeller)
        self._pmfs = _Pool(record["pmfs"], PMFS, "chances of casualties in all")
        self._hits = _Pool(record["hits"], HITS, "numbers of models struck in all")
        self._strikes = _Pool(record["strikes"], STRIKES, "units struck by all spells together")

    def pack(self) -> None:
        """Fill the table's aims, strikes, laws and marks."""
        for army, side in enumerate(self._armies):
            target = self._record["armies"][army]
            slots = spell_slots(side, self._scenario.catalogue)
            marks = self._marks(army, slots)
            used = 0
            for index, slot in enumerate(slots):
                if slot.spell.effect is None:
                    continue
                spell = target["spells"][index]
                spell["targeted"] = True
                self._record["targets"] = True
                spell["gains_wound"] = slot.spell.effect.gains_wound
                spell["heals"] = slot.spell.effect.heals
                target["healing"] |= int(slot.spell.effect.heals) << index
                if slot.spell.identity in marks:
                    mark = marks[slot.spell.identity]
                    spell["mark"] = mark + 1
                    if slot.spell.effect.once:
                        word, place = divmod(mark, MARKS_PER_WORD)
                        bits = ((1 << TARGETS) - 1) << (place * TARGETS)
                        target["staying"][word] |= bits
                used = self._pack_spell(target, army, index, slot, used)
            target["n_aims"] = used

    def _marks(self, army: int, slots: Sequence[SpellSlot]) -> dict[tuple[str, str | None], int]:
        """Marks of the spells that do not stack on one target.

        Those whose effect stays for the battle, and those of one turn that two wizards know:
        flat states do not add up.
        """
        identities = [slot.spell.identity for slot in slots]
        marked: dict[tuple[str, str | None], int] = {}
        for slot in slots:
            effect, identity = slot.spell.effect, slot.spell.identity
            if effect is None or identity in marked:
                continue
            flat = slot.spell.duration == "instant" and effect.damage is None and not effect.heals
            if effect.once or (flat and identities.count(identity) > 1):
                marked[identity] = len(marked)
        if len(marked) > MARKS:
            key = SEATS[army]
            expected = f"at most {MARKS} spells that do not stack on one target"
            raise ScenarioError("scenario", [Problem(f"{key}.wizards", expected, str(len(marked)))])
        return marked

    def _pack_spell(self, target: Any, army: int, index: int, slot: SpellSlot, used: int) -> int:
        """Fill one spell's aims from row `used` on; the row behind the last."""
        spell = slot.spell
        effect = spell.effect
        assert effect is not None
        found = verdicts(self._scenario, army, slot.wizard, effect, spell.range_inches)
        lying = self._lies_on(army, slot)
        aims: list[tuple[int, Opening, int | None]] = []
        for verdict in found:
            opening = Opening.ALWAYS
            if verdict.target is None and effect.target.endswith("_area"):
                if effect.damage is not None and not self._struck(army, slot, effect, None):
                    continue  # nobody around to be struck
            if not verdict.legal:
                if verdict.target is None or verdict.target != lying:
                    if not verdict.alone:
                        continue
                    opening = Opening.ALONE
                else:
                    opening = Opening.ALONE if verdict.alone else Opening.NEVER
            aims.append((_code(army, verdict.target), opening, verdict.target))
        aims.sort()
        if used + len(aims) > AIMS:
            key = SEATS[army]
            expected = f"at most {AIMS} pairs of a spell and a target"
            raise ScenarioError("scenario", [Problem(f"{key}.wizards", expected, "more of them")])
        record = target["spells"][index]
        record["first_aim"] = used
        record["n_aims"] = len(aims)
        promises = []
        for k, (code, opening, absolute) in enumerate(aims):
            row = target["aims"][used + k]
            row["target"] = code
            row["open"] = opening
            self._fill_aim(row, target["reach"][index], army, slot, effect, absolute)
            promises.append(row["promise"] + row["worth_per_phase"] * self._phases_paid(spell))
            if spell.in_play and absolute == lying:
                record["in_play_aim"] = k + 1
        ranked = sorted(range(len(aims)), key=lambda k: -promises[k])
        for k, best in enumerate(ranked):
            target["aims"][used + k]["ranked"] = best
        if ranked:
            # What may be aimed at from the beginning goes before what may be later, or never.
            best = next((k for k in ranked if aims[k][1] == Opening.ALWAYS), ranked[0])
            record["worth"] = target["aims"][used + best]["promise"]
            record["worth_per_phase"] = target["aims"][used + best]["worth_per_phase"]
        return used + len(aims)

    def _phases_paid(self, spell: Any) -> int:
        return 1 if spell.duration == "instant" else min(2, self._scenario.phases)

    def _lies_on(self, army: int, slot: SpellSlot) -> int | None:
        """Code of the target that the spell lies on when the battle begins."""
        name = slot.spell.in_play_on
        if name is None:
            return None
        effect = slot.spell.effect
        assert effect is not None
        side = army if effect.target.startswith("friendly") else 1 - army
        owner = self._armies[side]
        index = owner.unit_index(name)
        if index is None:
            names = [who.name for who in owner.characters]
            index = UNITS + names.index(name)
        return side * TARGETS + index

    def _fill_aim(
        self, row: Any, reach: Any, army: int, slot: SpellSlot, effect: Effect, target: int | None
    ) -> None:
        name, points = self._named(target)
        struck = self._struck(army, slot, effect, target)
        if target is None and effect.target.endswith("_area"):
            points = sum(
                _victim(self._armies[s.victim // TARGETS], s.victim % TARGETS).worth for s in struck
            )
        parts = self._scenario.worth_of(slot.spell, name)
        row["worth"] = parts["points"] + parts["share"] * points
        row["worth_per_phase"] = parts["points_per_phase"] + parts["share_per_phase"] * points
        mean = float(row["worth"])
        if effect.damage is not None:
            rows = np.zeros(len(struck), self._record["strikes"].dtype)
            for strike, entry in zip(struck, rows, strict=True):
                mean += self._fill_strike(entry, reach, army, effect, strike)
            row["first_strike"] = self._strike_run(rows)
            row["n_strikes"] = len(rows)
        row["promise"] = mean

    def _strike_run(self, rows: Any) -> int:
        return self._strikes.add(rows) if len(rows) else 0

    def _struck(
        self, army: int, slot: SpellSlot, effect: Effect, target: int | None
    ) -> list[Strike]:
        picked = effect.damage is not None or effect.target.endswith("_area")
        if not picked:
            return []
        return strikes(self._scenario, army, slot.wizard, effect, slot.spell.range_inches, target)

    def _named(self, target: int | None) -> tuple[str | None, float]:
        """Name and points of a target."""
        if target is None:
            return None, 0.0
        army, index = self._armies[target // TARGETS], target % TARGETS
        if index < UNITS:
            unit = army.units[index]
            return unit.name, unit.points * unit.models
        who = army.characters[index - UNITS]
        own_unit = army.unit_of(who)
        if isinstance(who, Wizard) and who.daemon_unit is not None and own_unit is not None:
            return who.name, own_unit.points * own_unit.models
        return who.name, who.points

    def _fill_strike(
        self, row: Any, reach: Any, army: int, effect: Effect, strike: Strike
    ) -> float:
        """Fill a strike; the points it is expected to win its owner."""
        damage = effect.damage
        assert damage is not None
        side, index = divmod(strike.victim, TARGETS)
        victim = _victim(self._armies[side], index)
        hit, per = _hit(damage, victim)
        chance = float(hit_chance(hit))
        total = victim.wounds * victim.models
        most = victim.wounds if effect.target == "enemy_model" and index < UNITS else total
        row["victim"] = strike.victim
        row["wounds_per_hit"] = per
        row["alone"] = index >= UNITS and effect.target in ("enemy_area", "point")
        row["distance"] = strike.distance
        _fill_hit(row, hit)
        row["pmf"] = row["hits"] = row["touched"] = -1
        if strike.hits is None:
            extra = effect.near.extra if effect.near is not None and strike.touches else None
            if self._steals_wounds(side, index):  # he may have more than he began with
                most = MOST_WOUNDS
            pmf = _trimmed(wounds_pmf(hits_pmf(damage.hits, extra), chance, per, most))
            row["dice"] = HIT_DICE[damage.hits]
            row["extra_dice"] = HitDice.NONE if extra is None else HIT_DICE[extra]
            row["pmf"] = self._pmfs.add(pmf)
            row["pmf_size"] = len(pmf)
            longest = len(pmf) - 1
        else:
            row["dice"] = HitDice.MODELS
            row["chance"] = chance
            row["hits"] = self._hits.add(strike.hits)
            struck = struck_pmf(strike.hits[-1])
            if strike.partial is not None and damage.partial is not None:
                touched = (FACES + 1 - damage.partial) / FACES * chance
                row["touched_on"] = damage.partial
                row["touched"] = self._hits.add(strike.partial)
                row["touched_chance"] = touched
                struck = struck_pmf(strike.hits[-1], strike.partial[-1], damage.partial)
            pmf = wounds_pmf(struck, chance, per, total)
            longest = UNBOUNDED
        if not damage.delayed and reach[strike.victim] != UNBOUNDED:
            reach[strike.victim] = (
                UNBOUNDED if longest == UNBOUNDED else max(int(reach[strike.victim]), longest)
            )
        lost = sum(
            float(p) * models_lost(total, k, victim.wounds) * victim.points
            for k, p in enumerate(pmf)
        )
        lost *= _lands(strike.distance) if damage.delayed else 1.0
        return lost if side != army else -lost

    def _steals_wounds(self, army: int, index: int) -> bool:
        """Whether the target is a character with a spell that gains him wounds."""
        return any(
            UNITS + slot.wizard == index
            and slot.spell.effect is not None
            and slot.spell.effect.gains_wound
            for slot in spell_slots(self._armies[army], self._scenario.catalogue)
        )


def _code(army: int, target: int | None) -> int:
    """The target's code as actions have it, from the seat of the spell's owner."""
    if target is None:
        return 0
    side, index = divmod(target, TARGETS)
    return 1 + index + (0 if side == army else TARGETS)


def _hit(damage: Damage, victim: _Victim) -> tuple[Hit, int]:
    """One hit on the victim, and the wounds it takes if nothing saves.

    What a flammable model has no wounds for is lost with it.
    """
    strength = damage.strength
    if damage.strength_by_armour is not None:
        strength = strength_against(damage.strength_by_armour, victim.armour_save)
    hit = Hit(
        strength,
        victim.toughness,
        victim.armour_save,
        victim.ward_save,
        damage.armour_save,
        damage.ward_save,
        damage.automatic,
    )
    burns = damage.flaming and "flammable" in victim.traits
    return hit, min(2, victim.wounds) if burns else 1


def _fill_hit(row: Any, hit: Hit) -> None:
    row["strength"] = hit.strength or 0
    row["toughness"] = hit.toughness
    row["armour_save"] = hit.armour_save
    row["ward_save"] = hit.ward_save
    row["armour_allowed"] = hit.armour_allowed
    row["ward_allowed"] = hit.ward_allowed
    row["automatic"] = hit.automatic


def _trimmed(pmf: Any) -> Any:
    """The law without the numbers of wounds behind the last that can happen."""
    return pmf[: int(np.flatnonzero(pmf)[-1]) + 1]


def _lands(distance: float) -> float:
    """Chance that a Comet which nobody dispels reaches so far when it lands.

    It lands with k markers with a chance of 1 / 2**k, and reaches D6 inches a marker.
    """
    reach = 0.0
    for markers in range(1, _MOST_MARKERS + 1):
        reached = sum(die * markers >= distance for die in range(1, FACES + 1)) / FACES
        reach += reached / 2.0**markers
    return reach
