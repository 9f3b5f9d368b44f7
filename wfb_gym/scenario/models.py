"""A whole scenario as a person writes it."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from wfb_gym.scenario.army import Army, Character, Wizard
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import Document, Name, Whole, one_of
from wfb_gym.scenario.items import BEARER_ONLY, Item, bundled_items
from wfb_gym.scenario.miscasts import (
    MiscastTable,
    bundled_miscast_table,
    bundled_miscast_tables,
)
from wfb_gym.scenario.packed import PHASES
from wfb_gym.scenario.ruleset import Edition, Ruleset, Switches, settled


class Scenario(Document):
    """A battle: rules, two armies and what they bring.

    Attributes:
        name: of the scenario.
        description: what a player should know about it.
        ruleset: the edition whose rules hold.
        phases: magic phases; the armies take turns, the caster first.
        rules: single switches over the ruleset.
        caster: the army whose phase comes first.
        dispeller: the other army.
        items: the scenario's own items; one takes the place of a bundled one of its name.
        miscast_tables: the scenario's own tables by name, likewise.
    """

    name: Name
    description: Name | None = None
    ruleset: Edition = "6e"
    phases: Annotated[int, Whole(1, PHASES)] = 1
    rules: Switches = Switches()
    caster: Army
    dispeller: Army
    items: tuple[Item, ...] = ()
    miscast_tables: dict[str, MiscastTable] = Field(default_factory=dict)

    @property
    def rules_in_force(self) -> Ruleset:
        """The ruleset with the scenario's switches over it."""
        return settled(self.ruleset, self.rules)

    @property
    def catalogue(self) -> dict[str, Item]:
        """Every item that the scenario may name, by name."""
        return bundled_items() | {item.name: item for item in self.items}

    @property
    def miscast_table(self) -> MiscastTable:
        """The table that its miscasts are rolled on."""
        name = self.rules_in_force.miscast_table
        return self.miscast_tables.get(name) or bundled_miscast_table(name)

    def keyed_armies(self) -> Iterator[tuple[str, Army]]:
        """The first and the second army, each with its key."""
        yield "caster", self.caster
        yield "dispeller", self.dispeller

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        own = [item.name for item in self.items]
        problems = [
            Problem(f"items[{i}].name", "each name once", shown(name))
            for i, name in enumerate(own)
            if name in own[:i]
        ]
        table = self.rules_in_force.miscast_table
        tables = {*bundled_miscast_tables(), *self.miscast_tables}
        if table not in tables:
            expected = one_of(sorted(tables), table, "a miscast table of this file or bundled")
            problems.append(Problem("rules.miscast_table", expected, shown(table)))
        catalogue = self.catalogue
        for side, army in self.keyed_armies():
            problems += _item_problems(f"{side}.items", army.items, None, catalogue)
            for key, character in army.keyed_characters():
                place = f"{side}.{key}.items"
                problems += _item_problems(place, character.items, character, catalogue)
        if problems:
            raise refusal(problems)
        return self


def _item_problems(
    key: str, names: tuple[str, ...], bearer: Character | None, catalogue: dict[str, Item]
) -> list[Problem]:
    """What is wrong with a list of items.

    Args:
        key: of the list.
        names: the items.
        bearer: who carries them; None for the army itself.
        catalogue: the items there are.
    """
    problems = []
    owner = "the army itself" if bearer is None else bearer.name
    for i, name in enumerate(names):
        item = catalogue.get(name)
        if item is None:
            expected = one_of(catalogue, name, "an item of this file or bundled")
            problems.append(Problem(f"{key}[{i}]", expected, shown(name)))
        elif not isinstance(bearer, Wizard):
            for effect in (effect for effect in BEARER_ONLY if getattr(item, effect)):
                expected = f"an item without {effect}, which only a wizard who carries it can use"
                problems.append(Problem(f"{key}[{i}]", expected, f"{shown(name)} of {owner}"))
    return problems
