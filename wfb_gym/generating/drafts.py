"""Armies while they are being made: units and characters that still change.

What becomes of them in the end is a scenario, which `writing` makes.
"""

from dataclasses import dataclass, field

from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import CharacterProfile, UnitProfile
from wfb_gym.scenario.units import SINGLE_MODELS

INCH = 25.4
"""Millimetres."""
BANNER_POINTS = (15.0, 25.0, 40.0)
"""A magic banner, by the Magic Resistance that it gives (ours)."""


@dataclass(eq=False)
class Troop:
    """A unit.

    Attributes:
        profile: its own.
        name: of its own in the army.
        models: how many.
        banner: Magic Resistance of its magic banner, 0 for one that gives none; None without.
        focal: it casts as a wizard.
        frontage: models in the front rank.
        skirmish: it stands loosely.
        engaged: it fights in close combat.
        fleeing: it flees.
        joined: characters in it.
        position: centre of its front edge, in inches.
        facing: degrees clockwise.
    """

    profile: UnitProfile
    name: str
    models: int
    banner: int | None = None
    focal: bool = False
    frontage: int = 1
    skirmish: bool = False
    engaged: bool = False
    fleeing: bool = False
    joined: int = 0
    position: tuple[float, float] = (0.0, 0.0)
    facing: int = 0

    @property
    def single(self) -> bool:
        """Whether it is a war machine, a chariot or a monster."""
        return self.profile.troop in SINGLE_MODELS

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of its ground in inches, the characters in it included."""
        width, depth = self.profile.base
        models = self.models + self.joined
        ranks = -(-models // self.frontage)
        return min(models, self.frontage) * width / INCH, ranks * depth / INCH


@dataclass(eq=False)
class Leader:
    """A character, or the unit of Daemons that is one.

    Attributes:
        profile: his own; None for a unit that casts.
        points: what he costs, his items aside.
        level: of a wizard; 0 for others.
        lore: of a wizard; empty for others.
        name: of his own in the army.
        items: names of what he carries.
        spells: what a wizard knows; empty where he rolls it.
        rolled: a wizard rolls his spells when the battle begins.
        troop: the unit that he is in, or is.
        status: as a scenario has it.
        position: of the middle of his base's front edge, in inches, where he stands alone.
        facing: degrees clockwise.
    """

    profile: CharacterProfile | None
    points: float
    level: int = 0
    lore: str = ""
    name: str = ""
    items: list[str] = field(default_factory=list)
    spells: list[str] = field(default_factory=list)
    rolled: bool = False
    troop: Troop | None = None
    status: str = "ready"
    position: tuple[float, float] = (0.0, 0.0)
    facing: int = 0

    @property
    def wizard(self) -> bool:
        """Whether he casts."""
        return self.level > 0

    @property
    def kind(self) -> str:
        """What he is to the magic phase."""
        return "wizard" if self.profile is None else self.profile.kind

    @property
    def lord(self) -> bool:
        """Whether he takes the place of a lord."""
        return self.profile is not None and self.profile.slot == "lord"

    @property
    def alone(self) -> bool:
        """Whether he has a place of his own on the table."""
        return self.troop is None and self.status != "off_table"

    @property
    def cost(self) -> float:
        """Points, his items included."""
        return self.points + sum(bundled_items()[name].points for name in self.items)

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of his base in inches."""
        width, depth = (20.0, 20.0) if self.profile is None else self.profile.base
        return width / INCH, depth / INCH


@dataclass(eq=False)
class Host:
    """An army.

    Attributes:
        people: name of its list.
        leaders: its characters, in the order of a scenario: wizards, Runesmiths, heroes.
        troops: its units.
    """

    people: str
    leaders: list[Leader]
    troops: list[Troop]

    @property
    def cost(self) -> float:
        """Points of all."""
        units = sum(
            troop.models * troop.profile.points
            + (0.0 if troop.banner is None else BANNER_POINTS[troop.banner])
            for troop in self.troops
        )
        return units + sum(leader.cost for leader in self.leaders)


def numbered(names: list[str]) -> list[str]:
    """The names, with a number behind each that stood there before."""
    return [
        name if name not in names[:i] else f"{name} {names[:i].count(name) + 1}"
        for i, name in enumerate(names)
    ]
