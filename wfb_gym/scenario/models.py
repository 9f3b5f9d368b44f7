"""A whole scenario as a person writes it.

What its parts must be to each other is `checks`.
"""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from wfb_gym.scenario.army import Army
from wfb_gym.scenario.battlefield import Battlefield
from wfb_gym.scenario.characters import Wizard
from wfb_gym.scenario.checks import scenario_problems
from wfb_gym.scenario.contacts import ContactGroup, contact_groups
from wfb_gym.scenario.errors import refusal
from wfb_gym.scenario.fields import Document, Name, Whole
from wfb_gym.scenario.items import Item, bundled_items
from wfb_gym.scenario.miscasts import MiscastTable, bundled_miscast_table
from wfb_gym.scenario.ruleset import Edition, Ruleset, Switches, settled
from wfb_gym.scenario.sizes import PHASES
from wfb_gym.scenario.spells import Spell
from wfb_gym.scenario.worths import Worths, overridden

_LORE_SIZE = 6


class Scenario(Document):
    """A battle: rules, two armies and what they bring.

    Attributes:
        name: of the scenario.
        description: what a player should know about it.
        ruleset: the edition whose rules hold.
        phases: magic phases; the armies take turns, the caster first.
        rules: single switches over the ruleset.
        battlefield: the table; None where every target is in range and in sight.
        caster: the army whose phase comes first.
        dispeller: the other army.
        items: the scenario's own items; one takes the place of a bundled one of its name.
        miscast_tables: the scenario's own tables by name, likewise.
        worths: its own worth of spells, over the lores'.
    """

    name: Name
    description: Name | None = None
    ruleset: Edition = "6e"
    phases: Annotated[int, Whole(1, PHASES)] = 1
    rules: Switches = Switches()
    battlefield: Battlefield | None = None
    caster: Army
    dispeller: Army
    items: tuple[Item, ...] = ()
    miscast_tables: dict[str, MiscastTable] = Field(default_factory=dict)
    worths: tuple[Worths, ...] = ()

    def first_phases(self, count: int) -> Self:
        """The same battle, over after its first phases.

        Args:
            count: how many, 1 to all of them.

        Raises:
            ValueError: it has not so many.
        """
        if not 1 <= count <= self.phases:
            raise ValueError(f"phases: expected 1..{self.phases}, found {count}")
        return self.model_copy(update={"phases": count})

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
        """The table of wizards who have none of their own, nor their army."""
        return self.table_named(self.rules_in_force.miscast_table)

    @property
    def armies(self) -> tuple[Army, Army]:
        """The first and the second army."""
        return self.caster, self.dispeller

    def keyed_armies(self) -> Iterator[tuple[str, Army]]:
        """The first and the second army, each with its key."""
        yield "caster", self.caster
        yield "dispeller", self.dispeller

    def table_named(self, name: str) -> MiscastTable:
        """A miscast table of the scenario's own, or else a bundled one.

        Args:
            name: of one that there is.
        """
        return self.miscast_tables.get(name) or bundled_miscast_table(name)

    def table_name_of(self, army: Army, wizard: Wizard) -> str:
        """Name of the table for a wizard's miscasts: his own, his army's or the ruleset's."""
        return wizard.miscast_table or army.miscast_table or self.rules_in_force.miscast_table

    @property
    def tables_in_use(self) -> dict[str, MiscastTable]:
        """Miscast tables by name: the ruleset's first, then those that wizards bring."""
        names = [self.rules_in_force.miscast_table]
        names += [self.table_name_of(army, who) for army in self.armies for who in army.wizards]
        return {name: self.table_named(name) for name in dict.fromkeys(names)}

    def spells_drawn(self, wizard: Wizard) -> int:
        """Spells that he rolls on his lore: one a level, and those of his items; else 0."""
        if not wizard.rolled:
            return 0
        more = sum(self.catalogue[name].extra_spells for name in wizard.items)
        return min(wizard.level + more, _LORE_SIZE)

    def contacts_of(self, army: int, character: int) -> tuple[ContactGroup, ...]:
        """The groups in base contact with a character, his own unit's models among them.

        Args:
            army: 0 for the caster's, 1 for the dispeller's.
            character: index among the army's characters.
        """
        return contact_groups(self.armies, army, character)

    def worth_of(self, spell: Spell, target: str | None = None) -> dict[str, float]:
        """What a spell with an effect is worth beside its damage.

        Args:
            spell: of a wizard or an item.
            target: name of the unit or character it is cast at; None for a spell without.

        Returns:
            Points or shares for each of `wfb_gym.scenario.worths.PARTS`.
        """
        worth = None if spell.effect is None else spell.effect.worth
        return overridden(worth, self.worths, spell.name, target)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if problems := scenario_problems(self):
            raise refusal(problems)
        return self
