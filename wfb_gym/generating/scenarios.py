"""Generation of single scenarios or sets of scenarios from seeds, with a train and test split."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import cycle
from typing import Any, Literal

from wfb_gym.generating import deployment
from wfb_gym.generating.characters import choose_characters
from wfb_gym.generating.drafts import ArmyDraft, CharacterDraft, scenario_document
from wfb_gym.generating.options import (
    OPTIONS_BY_NAME,
    Generation,
    Opposition,
    Sizes,
    first_army_lists,
    second_army_lists,
    wizard_options,
)
from wfb_gym.generating.primitives import RandomChoices
from wfb_gym.generating.units import choose_units, join_units
from wfb_gym.scenario.errors import Problem, ScenarioError, format_value
from wfb_gym.scenario.fields import python_value
from wfb_gym.scenario.loading import scenario_from_dict
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import AIMS, MARKS, POINTS
from wfb_gym.scenario.slots import identities_to_mark
from wfb_gym.scenario.spells import Spell, spells_of_lore
from wfb_gym.suggestions import one_of

SEEDS = range(2**32)  # all seeds
TRAIN_SEEDS = range(2**31)  # seeds for training
TEST_SEEDS = range(2**31, SEEDS.stop)  # seeds for evaluation, never used for training
Split = Literal["train", "test"]
_RANGES: dict[Split, range] = {"train": TRAIN_SEEDS, "test": TEST_SEEDS}
_PROGRESS_SECONDS = 2.0  # seconds between progress lines
_MAX_ATTEMPTS = 1000
_OPPOSITIONS: dict[Opposition, int] = {"wizards": 55, "dwarfs": 15, "daemons": 15, "none": 15}
"""Kinds of second army with their weights, used if the options allow any."""


def generate(seed: int, options: Generation | None = None) -> Scenario:
    """Generate the scenario for a seed.

    The same seed and options give the same scenario on every machine. A release that changes the
    army lists or the generator may change it.

    Args:
        seed: from `TRAIN_SEEDS` or `TEST_SEEDS`, 0 to 2**32 - 1.
        options: the scenario's options. None uses the defaults, a battle of 1000 points.

    Raises:
        ScenarioError: if the seed is out of range.
    """
    seed = python_value(seed)
    if type(seed) is not int or seed not in SEEDS:
        expected = f"a whole number from 0 to {SEEDS[-1]}"
        raise ScenarioError("seed", [Problem("", expected, format_value(seed))])
    options = Generation() if options is None else options
    choices = RandomChoices(seed)
    for _ in range(_MAX_ATTEMPTS):
        scenario = _try_to_generate(seed, options, choices)
        if scenario is not None:
            return scenario
    raise RuntimeError(f"seed {seed}: no scenario after {_MAX_ATTEMPTS} attempts with {options}")


def _try_to_generate(seed: int, options: Generation, choices: RandomChoices) -> Scenario | None:
    """Generate a scenario from the next random choices; return None if a part does not fit."""
    first = _first_army(options, choices)
    second = _second_army(options, choices)
    if first is None or second is None:
        return None
    armies = (first, second)
    if options.duel:
        document = scenario_document(seed, options, armies, [])
        return scenario_from_dict(document, f"generated-{seed}")
    for army in armies:
        join_units(army.characters, army.units, choices)
    pairs = deployment.pair_fighting_units(armies, choices)
    deployment.choose_fleeing_units(armies, choices)
    deployment.choose_absent_wizards(armies, choices)
    useful = any(_may_find_a_target(who, bool(pairs)) for who in first.characters)
    if not useful or not _fits_packed_sizes(armies):
        return None
    terrain = []
    if options.battlefield:
        placed = deployment.deploy(armies, pairs, choices)
        if placed is None:
            return None
        terrain = deployment.choose_terrain(placed, choices)
    document = scenario_document(seed, options, armies, terrain)
    scenario = scenario_from_dict(document, f"generated-{seed}")
    return scenario if _has_a_target(scenario) else None


def _first_army(options: Generation, choices: RandomChoices) -> ArmyDraft | None:
    """Choose the army that casts first; return None if no units fit its characters.

    Half of the time, the lore is chosen before the list, so that no lore or list is rare.
    """
    known = first_army_lists(options)
    lore = None
    if choices.chance(50):
        lores = {
            name: {lore for each in wizard_options(name, options) for lore in each.lores}
            for name in known
        }
        lore = choices.pick([one for one in options.lores if any(one in lores[n] for n in known)])
        known = tuple(name for name in known if lore in lores[name])
    name = choices.pick(known)
    characters = choose_characters("wizards", name, options, choices, lore)
    if options.duel:
        return ArmyDraft(name, characters, [])
    units = choose_units(name, characters, options, choices, banners=True)
    return None if units is None else ArmyDraft(name, characters, units)


def _second_army(options: Generation, choices: RandomChoices) -> ArmyDraft | None:
    """Choose the army that dispels first; return None if no units fit its characters."""
    kind: Opposition = options.opposition
    if kind == "any":
        possible = [
            (each, w) for each, w in _OPPOSITIONS.items() if second_army_lists(each, options)
        ]
        kind = choices.pick_weighted(possible)
    name = choices.pick(second_army_lists(kind, options))
    characters = choose_characters(kind, name, options, choices)
    if options.duel:
        return ArmyDraft(name, characters, [])
    units = choose_units(name, characters, options, choices, banners=kind != "none")
    return None if units is None else ArmyDraft(name, characters, units)


def _known_spells(who: CharacterDraft) -> list[Spell]:
    """Return the spells that a wizard knows or may roll, or none for other characters."""
    if not who.is_wizard:
        return []
    return [s for s in spells_of_lore(who.lore) if who.rolled or s.name in who.spells]


def _fits_packed_sizes(armies: Sequence[ArmyDraft]) -> bool:
    """Whether both armies' spells fit into a packed scenario.

    The options bound all sizes except two: the marks for spells that do not stack on a single
    target, and the aims, because a spell aimed at a point has up to `POINTS` of them.
    """
    most = max(len(army.units) + len(army.characters) for army in armies)
    for army in armies:
        known = [spell for who in army.characters for spell in _known_spells(who)]
        if len(identities_to_mark(known)) > MARKS:
            return False
        effects = [spell.effect for spell in known if spell.effect is not None]
        if sum(POINTS if each.target == "point" else most for each in effects) > AIMS:
            return False
    return True


def _may_find_a_target(who: CharacterDraft, has_combats: bool) -> bool:
    """Whether a wizard has a spell that may have a target, before positions are known."""
    if who.status in ("fleeing", "off_table"):
        return False
    engaged = who.unit is not None and who.unit.engaged
    return any(
        effect is not None
        and effect.needs in (None, "front_rank")
        and effect.target != "friendly_character"
        and (has_combats or effect.engaged != "only")
        and (engaged or not effect.caster_engaged)
        and not (engaged and effect.missile)
        for effect in (spell.effect for spell in _known_spells(who))
    )


def _has_a_target(scenario: Scenario) -> bool:
    """Whether the first army has a spell with a legal target. If not, there is no decision."""
    for index, wizard in enumerate(scenario.caster.wizards):
        for spell in wizard.candidate_spells:
            effect = spell.effect
            if effect is None or effect.needs == "wounded":
                continue
            if any(verdict.legal for verdict in scenario.aim(0, index, effect).verdicts()):
                return True
    return False


def seeds(split: Split, count: int, first: int = 0) -> range:
    """Return `count` consecutive seeds from a split, from the index `first` on.

    Raises:
        ScenarioError: if the split is unknown, or `count` or `first` is out of range.
    """
    if split not in _RANGES:
        raise ScenarioError("seeds", [Problem("split", '"train" or "test"', format_value(split))])
    own = _RANGES[split]
    count, first = python_value(count), python_value(first)
    problems = []
    for key, value, least in (("count", count, 1), ("first", first, 0)):
        if type(value) is not int or value < least:
            problems.append(Problem(key, f"a whole number from {least} on", format_value(value)))
    if not problems and first + count > len(own):
        expected = f"seeds below {len(own)}, as the split {format_value(split)} has no more"
        problems.append(Problem("first", expected, f"{count} from {first} on"))
    if problems:
        raise ScenarioError("seeds", problems)
    return own[first : first + count]


@dataclass(frozen=True)
class Generated:
    """A set of generated scenarios, accepted in place of a single scenario.

    Attributes:
        split: "train" or "test".
        count: number of scenarios.
        first: index of the first seed within the split.
        options: the scenarios' options, or a tuple of options that the scenarios take in turn:
            scenario i uses entry i modulo the length.

    Raises:
        ScenarioError: as in `seeds`, or if `options` has another type or is an empty tuple.
    """

    split: Split = "train"
    count: int = 256
    first: int = 0
    options: Generation | tuple[Generation, ...] = field(default_factory=Generation)

    def __post_init__(self) -> None:
        """Raise a ScenarioError if the options or the seeds are invalid."""
        kinds: Any = self.kinds
        is_tuple = isinstance(kinds, tuple) and len(kinds) > 0
        if not (is_tuple and all(isinstance(each, Generation) for each in kinds)):
            expected = "a Generation or a tuple of at least one"
            problem = Problem("options", expected, format_value(self.options))
            raise ScenarioError("scenario", [problem])
        for key in ("count", "first"):
            object.__setattr__(self, key, python_value(getattr(self, key)))
        _ = self.seeds

    @classmethod
    def parse(cls, text: str) -> "Generated":
        """Parse a name such as ``generated``, ``generated:test`` or ``generated-all:train:1024``.

        The name is a key of `OPTIONS_BY_NAME`. Without a split, the training seeds are used. The
        number is the `count`.

        Raises:
            ScenarioError: if the kind or the split is unknown, or the count is not a number.
        """
        word, *parts = text.split(":")
        if word not in OPTIONS_BY_NAME:
            problem = Problem("", one_of(OPTIONS_BY_NAME, word, "a kind"), format_value(text))
            raise ScenarioError("scenario", [problem])
        split, *counts = parts or ["train"]
        if split not in _RANGES or not (
            counts == [] or (len(counts) == 1 and counts[0].isdecimal())
        ):
            known = (word, *(f"{word}:{each}" for each in _RANGES), f"{word}:train:COUNT")
            raise ScenarioError("scenario", [Problem("", " or ".join(known), format_value(text))])
        made = cls("test" if split == "test" else "train", options=OPTIONS_BY_NAME[word])
        return replace(made, count=int(counts[0])) if counts else made

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> "Generated":
        """Rebuild a `Generated` from the output of `dataclasses.asdict`; tuples may be lists.

        Raises:
            ScenarioError: if a field is unknown.
        """
        try:
            options = fields.get("options", {})
            is_one = isinstance(options, Mapping)
            found = _generation(options) if is_one else tuple(map(_generation, options))
            return cls(**{**fields, "options": found})
        except (TypeError, AttributeError):
            expected = "the fields of wfb_gym.generating.Generated"
            raise ScenarioError(
                "scenario", [Problem("", expected, f"the keys {', '.join(map(str, fields))}")]
            ) from None

    @property
    def seeds(self) -> range:
        """The scenarios' seeds."""
        return seeds(self.split, self.count, self.first)

    @property
    def kinds(self) -> tuple[Generation, ...]:
        """The options that the scenarios take in turn."""
        return (self.options,) if isinstance(self.options, Generation) else self.options

    @property
    def sizes(self) -> Sizes:
        """Upper bounds on each army's sizes in its scenarios."""
        columns = zip(*(each.sizes for each in self.kinds), strict=True)
        return Sizes(*map(max, columns))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the scenarios, which are generated only once; progress is printed to stderr."""
        return _scenarios(self)


def _generation(fields: Mapping[str, Any]) -> Generation:
    options: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    return Generation(**options)


@lru_cache(maxsize=8)
def _scenarios(generated: Generated) -> tuple[Scenario, ...]:
    scenarios = []
    reported = time.monotonic()
    for seed, options in zip(generated.seeds, cycle(generated.kinds), strict=False):
        scenarios.append(generate(seed, options))
        if time.monotonic() - reported > _PROGRESS_SECONDS:
            reported = time.monotonic()
            done = f"{len(scenarios)} of {generated.count}"
            sys.stderr.write(f"wfb_gym: {done} scenarios generated\n")
    return tuple(scenarios)
