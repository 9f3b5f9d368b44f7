"""From a seed to a scenario."""

from wfb_gym.generating.deploying import deploy, fight, flee, stray
from wfb_gym.generating.drafts import BANNER_POINTS, Host, Leader
from wfb_gym.generating.draws import Draws
from wfb_gym.generating.landscape import landscape
from wfb_gym.generating.leading import heroes_lead, runesmiths_lead, wizards_lead
from wfb_gym.generating.muster import (
    HORRORS_CASTING,
    casters,
    first_armies,
    second_armies,
)
from wfb_gym.generating.options import Generation, Opposition
from wfb_gym.generating.raising import join, raise_units
from wfb_gym.generating.room import finds_room
from wfb_gym.generating.writing import written
from wfb_gym.geometry import strikes, verdicts
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Wizard
from wfb_gym.scenario.errors import Problem, ScenarioError, shown
from wfb_gym.scenario.loading import scenario_from_dict
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.profiles import unit_profiles
from wfb_gym.scenario.spells import spells_of_lore

SEEDS = range(2**32)
"""Seeds that there are."""
_ATTEMPTS = 1000
_OPPOSITIONS: tuple[tuple[Opposition, int], ...] = (
    ("wizards", 55),
    ("dwarfs", 15),
    ("daemons", 15),
    ("none", 15),
)


def generate(seed: int, options: Generation | None = None) -> Scenario:
    """The scenario of a seed.

    It is the same for a seed and options on every machine, as `wfb_gym.generating.draws` tells;
    a change of the army lists or of the generator makes others.

    Args:
        seed: 0 to below 2**32; which of them are for training is `wfb_gym.generating.pools`.
        options: what the scenario is to be like; None for a battle of 1000 points.

    Raises:
        ScenarioError: there is no such seed.
    """
    if type(seed) is not int or seed not in SEEDS:
        expected = f"a whole number from 0 to {SEEDS[-1]}"
        raise ScenarioError("seed", [Problem("", expected, shown(seed))])
    asked = Generation() if options is None else options
    draws = Draws(seed)
    for _ in range(_ATTEMPTS):
        scenario = _attempt(seed, asked, draws)
        if scenario is not None:
            return scenario
    raise RuntimeError(f"seed {seed}: no scenario came of {_ATTEMPTS} attempts with {asked}")


def _attempt(seed: int, options: Generation, draws: Draws) -> Scenario | None:
    """A scenario of what comes next in the stream; None where some of it does not fit."""
    first = _first_host(options, draws)
    second = _second_host(options, draws)
    if first is None or second is None:
        return None
    hosts = (first, second)
    for host in hosts:
        join(host.leaders, host.troops, draws)
    pairs = fight(hosts, draws)
    flee(hosts, draws)
    stray(hosts, draws)
    of_use = any(_of_use(leader, bool(pairs)) for leader in first.leaders)
    if not of_use or not finds_room(hosts):
        return None
    terrain = []
    if options.battlefield:
        standing = deploy(hosts, pairs, draws)
        if standing is None:
            return None
        terrain = landscape(standing, draws)
    scenario = scenario_from_dict(written(seed, options, hosts, terrain), f"generated-{seed}")
    return scenario if _finds_a_target(scenario) else None


def _finds_a_target(scenario: Scenario) -> bool:
    """Whether the first army has a spell that it may cast as everybody stands.

    Else nobody could ever cast, and the battle would be over before it began.
    """
    for index, wizard in enumerate(scenario.caster.wizards):
        for spell in wizard.candidate_spells:
            effect = spell.effect
            if effect is None or effect.needs == "wounded":
                continue
            asked = (scenario, 0, index, effect, spell.range_inches)
            if not any(verdict.legal for verdict in verdicts(*asked)):
                continue
            if effect.damage is None or effect.target != "enemy_area" or strikes(*asked, None):
                return True
    return False


def _of_use(leader: Leader, combats: bool) -> bool:
    """Whether a character is a wizard who may find a target, as far as no place decides it.

    Args:
        leader: the character.
        combats: whether there are any.
    """
    if not leader.wizard or leader.status in ("fleeing", "off_table"):
        return False
    engaged = leader.troop is not None and leader.troop.engaged
    effects = [
        spell.effect
        for spell in spells_of_lore(leader.lore)
        if leader.rolled or spell.name in leader.spells
    ]
    return any(
        effect is not None
        and effect.needs in (None, "front_rank")
        and effect.target != "friendly_character"
        and (combats or effect.engaged != "only")
        and (engaged or not effect.caster_engaged)
        and not (engaged and effect.missile)
        for effect in effects
    )


def _first_host(options: Generation, draws: Draws) -> Host | None:
    """The army that casts first.

    In half of the cases its lore is chosen before its list, so that none of the two is rare.
    """
    known = first_armies(options)
    lore = None
    if draws.chance(50):
        lores = {
            people: {lore for each in casters(people, options) for lore in each.lores}
            for people in known
        }
        lore = draws.pick([one for one in options.lores if any(one in lores[p] for p in known)])
        known = tuple(people for people in known if lore in lores[people])
    people = draws.pick(known)
    leaders = wizards_lead(people, options, draws, lore)
    troops = raise_units(people, leaders, options, draws, banners=True)
    return None if troops is None else Host(people, leaders, troops)


def _second_host(options: Generation, draws: Draws) -> Host | None:
    kind: Opposition = options.opposition
    if kind == "any":
        possible = [(each, w) for each, w in _OPPOSITIONS if second_armies(each, options)]
        kind = draws.weighted(possible)
    people = draws.pick(second_armies(kind, options))
    if kind == "none":
        leaders = heroes_lead(people, options, draws)
    elif kind == "dwarfs":
        leaders = runesmiths_lead(people, options, draws)
    else:
        leaders = wizards_lead(people, options, draws)
    troops = raise_units(people, leaders, options, draws, banners=kind != "none")
    return None if troops is None else Host(people, leaders, troops)


def spent(scenario: Scenario, army: Army) -> float:
    """Points of a generated army: units with their banners, characters with their items.

    Args:
        scenario: that it belongs to, whose items it carries.
        army: one of the two.
    """
    points = 0.0
    for unit in army.units:
        points += unit.models * unit.points
        if unit.magic_item and unit.profile is not None:
            given = unit.magic_resistance - unit_profiles()[unit.profile].magic_resistance
            points += BANNER_POINTS[given and unit.magic_resistance]
    for who in army.characters:
        casting = isinstance(who, Wizard) and who.daemon_unit is not None
        points += HORRORS_CASTING if casting else who.points
        points += sum(scenario.catalogue[name].points for name in who.items)
    return points
