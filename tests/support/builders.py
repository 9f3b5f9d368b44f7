"""Small scenarios for tests, and a battle that finds spells and items by name."""

from collections.abc import Mapping
from typing import Any

from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS

Data = dict[str, Any]
PASS = actions.PASS


def spell(name: str = "Bolt", casting_value: int = 5, worth: float = 10.0, **keys: Any) -> Data:
    """Return a spell that acts at once, unless `duration` says otherwise."""
    return {"name": name, "casting_value": casting_value, "worth": worth, **keys}


def lasting(name: str = "Ward", casting_value: int = 5, worth: float = 1.0, **keys: Any) -> Data:
    """Return a spell that remains in play."""
    return spell(name, casting_value, worth, **{"duration": "remains_in_play", **keys})


def wizard(level: int = 4, *spells: Data, name: str = "Mage", **keys: Any) -> Data:
    """Return a wizard with the given spells."""
    return {"name": name, "level": level, "spells": list(spells), **keys}


def known(name: str, **keys: Any) -> Data:
    """Return a spell of a lore with the lore's effect."""
    return {"name": name, **keys}


def aimed(name: str = "Strike", casting_value: int = 5, **keys: Any) -> Data:
    """Return a spell defined in the scenario, aimed at an enemy unit by default."""
    return {"name": name, "casting_value": casting_value, "target": "enemy_unit", **keys}


def unit(name: str = "Spears", models: int = 10, **keys: Any) -> Data:
    """Return a unit of Toughness 3 without saves, 6 points a model."""
    return {"name": name, "models": models, "toughness": 3, "points": 6.0, **keys}


def army(*wizards: Data, **keys: Any) -> Data:
    """Return an army of the given wizards."""
    return {"wizards": list(wizards), **keys}


def game(caster: Data | None = None, dispeller: Data | None = None, **keys: Any) -> "Game":
    """Return a battle of two armies; further keys are keys of the scenario."""
    document = {"name": "test", "caster": caster or army(), "dispeller": dispeller or army()}
    return Game(scenario_from_dict({**document, **keys}))


def miscast(*effects: Data) -> Data:
    """Return scenario keys that make every miscast have these effects, in order."""
    rows = [{"roll": [2, 12], "effects": list(effects)}]
    return {"miscast_tables": {"house": {"rows": rows}}, "rules": {"miscast_table": "house"}}


class Game(Battle):
    """A battle that finds spells and items by name."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.armies = (scenario.caster, scenario.dispeller)
        super().__init__(pack(scenario))

    def spell(self, name: str, army: int | None = None, wizard: int | None = None) -> int:
        """Return the index of the first spell of that name, of the mover's army by default."""
        side = self.mover if army is None else army
        for index, slot in enumerate(self.scenario.slots[side].spells):
            if slot.spell.name == name and wizard in (None, slot.wizard):
                return index
        raise LookupError(name)

    def item(self, name: str, army: int | None = None) -> int:
        """Return the index of the first item of that name."""
        side = self.mover if army is None else army
        names = [s.item.name for s in self.scenario.slots[side].items]
        return names.index(name)

    def can(self, action: int) -> bool:
        return action in self.legal_actions()

    def can_cast(self, name: str, wizard: int | None = None) -> bool:
        """Return whether the spell may be nominated, or taken as the free spell."""
        return self.can(actions.FIRST_CAST + self.spell(name, wizard=wizard))

    def can_use(self, name: str) -> bool:
        """Return whether the mover may use its item now."""
        return self.can(actions.FIRST_ITEM + self.item(name))

    def nominate(self, name: str, wizard: int | None = None) -> None:
        self.act(actions.FIRST_CAST + self.spell(name, wizard=wizard))

    def cast(
        self, name: str, dice: int, *, own: int = 0, item: str = "", wizard: int | None = None
    ) -> None:
        """Nominate the spell and commit `dice` pool dice and `own` reserve dice."""
        army = self.active
        wizard_index = int(self.packed.armies[army].spells[self.spell(name, army, wizard)].wizard)
        power, reserve = int(self.state.power), int(self.state.own_dice[wizard_index])
        self.nominate(name, wizard)
        if self.node == Node.ITEM:
            self.act(actions.FIRST_ITEM + self.item(item) if item else PASS)
        if self.node == Node.RESERVE_DICE:
            self.act(actions.FIRST_DICE + own)
        if self.node == Node.POOL_DICE:
            self.act(actions.FIRST_DICE + dice)
        assert self.node == Node.ROLL_CASTING
        assert self.state.power == power - dice
        assert self.state.own_dice[wizard_index] == reserve - own

    def cast_with(self, name: str, *faces: int, own: int = 0, wizard: int | None = None) -> float:
        """Cast the spell with these dice, `own` of them from the reserve; return the points."""
        self.cast(name, len(faces) - own, own=own, wizard=wizard)
        return self.roll(*faces)

    def miscast(self, name: str = "Bolt", table: tuple[int, ...] = (3, 4), **keys: Any) -> float:
        """Cast the spell with two 1s and roll these dice on the table; return the points."""
        self.cast_with(name, 1, 1, **keys)
        assert self.node == Node.ROLL_MISCAST
        return self.roll(*table)

    def pass_until(self, phase: int) -> None:
        """Pass with both players until that phase, which starts before any other roll."""
        while self.is_decision() and self.state.phase < phase:
            self.act(PASS)
        assert self.state.phase == phase

    def stop(self) -> None:
        """Cast nothing more in this phase."""
        assert self.node == Node.NOMINATE
        self.act(PASS)

    def let_through(self) -> None:
        """Make no attempt to dispel."""
        assert self.node == Node.DISPEL
        self.act(PASS)

    def dispel(self, *faces: int) -> None:
        """Dispel with as many pool dice as there are faces."""
        assert self.node == Node.DISPEL
        self.act(actions.FIRST_DICE + len(faces))
        self.roll(*faces)

    def use(self, name: str) -> None:
        """Use or declare an item."""
        self.act(actions.FIRST_ITEM + self.item(name))

    def end(self, name: str) -> None:
        """End a spell in play of the caster's own."""
        assert self.node == Node.NOMINATE
        self.act(actions.FIRST_IN_PLAY + self.spell(name))

    def in_play_action(self, name: str, owner: int) -> int:
        """Return the action that tries to dispel a spell in play."""
        side = 0 if owner == self.mover else 1
        return actions.FIRST_IN_PLAY + side * SPELLS + self.spell(name, owner)

    def try_in_play(self, name: str, owner: int) -> None:
        """Nominate a spell in play to dispel at the end of the phase."""
        assert self.node == Node.IN_PLAY
        self.act(self.in_play_action(name, owner))

    def is_in_play(self, name: str, army: int, wizard: int | None = None) -> bool:
        return bool(int(self.state.in_play[army]) >> self.spell(name, army, wizard) & 1)

    def code(self, name: str, seat: int | None = None) -> int:
        """Return the action that aims at a unit or character, by the given seat or the mover."""
        seat = self.mover if seat is None else seat
        for side, first in ((seat, 0), (1 - seat, TARGETS)):
            army = self.armies[side]
            for named, offset in ((army.units, 0), (army.characters, UNITS)):
                names = [each.name for each in named]
                if name in names:
                    return actions.FIRST_TARGET + 1 + first + offset + names.index(name)
        raise LookupError(name)

    def targets(self) -> set[str]:
        """Return the names of the mover's legal targets at a TARGET node."""
        assert self.node == Node.TARGET
        names = [unit.name for own in self.armies for unit in own.units]
        names += [who.name for own in self.armies for who in own.characters]
        return {name for name in names if self.can(self.code(name))}

    def aim(self, name: str) -> None:
        """Choose the target if there is more than one, or the best of the points nearest to it."""
        if self.node == Node.TARGET:
            code = self.code(name)
            if not self.can(code):
                target = code - actions.FIRST_TARGET - 1
                victim = target if self.mover == 0 else (target + TARGETS) % (2 * TARGETS)
                away = self.packed.armies[self.mover].inches[:, victim]
                first = actions.FIRST_TARGET + FIRST_POINT
                code = min(self.legal_actions(), key=lambda point: int(away[point - first]))
            self.act(code)

    def works(self, name: str, target: str = "", *, wizard: int | None = None) -> float:
        """Cast the spell with two 6s; returns the points scored at once."""
        before = self.points
        self.nominate(name, wizard)
        self.aim(target)
        if self.node == Node.ITEM:
            self.act(PASS)
        if self.node == Node.RESERVE_DICE:
            self.act(actions.FIRST_DICE)
        self.act(actions.FIRST_DICE + 2)
        self.roll(6, 6)
        return self.points - before

    def units_left(self, army: int) -> list[int]:
        """Return the wounds left in each unit of the army."""
        return [int(left) for left in self.state.unit_wounds[army][: len(self.armies[army].units)]]

    def mean(self) -> float:
        """Return the expected points of the pending chance node and of chance nodes after it."""
        total = 0.0
        for code, chance in self.chance_outcomes():
            twin = self.copy()
            gained = twin.resolve(code)
            if twin.node in (Node.ROLL_STRIKE, Node.ROLL_HITS, Node.ROLL_ODD_HIT):
                gained += twin.mean()
            total += chance * gained
        return total

    @property
    def active(self) -> int:
        """Return the army whose phase it is."""
        return int(self.state.active)

    def most_dice(self) -> int:
        """Return the most pool dice that may be committed now."""
        codes = [c for c in self.legal_actions() if actions.FIRST_DICE <= c < actions.FIRST_ITEM]
        return codes[-1] - actions.FIRST_DICE

    def outcomes(self) -> Mapping[int, float]:
        """Return the probabilities of the pending node by outcome."""
        return dict(self.chance_outcomes())
