"""From drafts to a scenario, as a person would write it."""

from collections.abc import Sequence
from typing import Any

from wfb_gym.generating.drafts import Host, Leader, Troop
from wfb_gym.generating.muster import DAEMONS, DWARFS
from wfb_gym.generating.options import Generation
from wfb_gym.generating.places import DEPTH, WIDTH
from wfb_gym.scenario.profiles import army_list
from wfb_gym.seats import SEATS

_MISCASTS_OF_DAEMONS = "daemons"
_PLACES = {"wizard": "wizards", "hero": "heroes"}


def written(
    seed: int, options: Generation, hosts: Sequence[Host], terrain: list[dict[str, Any]]
) -> dict[str, Any]:
    """A scenario's document.

    Args:
        seed: of the scenario.
        options: what was asked for.
        hosts: both armies.
        terrain: of the table.
    """
    names = " against ".join(army_list(host.people).name for host in hosts)
    document: dict[str, Any] = {
        "name": f"generated-{seed}",
        "description": f"{names}, {options.points} points a side.",
        "ruleset": options.ruleset,
        "phases": options.phases,
    }
    if options.battlefield:
        document["battlefield"] = {"width": WIDTH, "depth": DEPTH, "terrain": tuple(terrain)}
    for key, host in zip(SEATS, hosts, strict=True):
        document[key] = _army(host, options.battlefield)
    return document


def _army(host: Host, on_table: bool) -> dict[str, Any]:
    army: dict[str, Any] = {"name": army_list(host.people).name, "dwarf": host.people == DWARFS}
    if host.people == DAEMONS:
        army["miscast_table"] = _MISCASTS_OF_DAEMONS
    for leader in host.leaders:
        kind = _PLACES.get(leader.kind, "runesmiths")
        army[kind] = (*army.get(kind, ()), _leader(leader, on_table))
    army["units"] = tuple(_troop(troop, on_table) for troop in host.troops)
    return army


def _leader(leader: Leader, on_table: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": leader.name, "status": leader.status}
    if leader.profile is not None:
        entry["profile"] = leader.profile.name
    if leader.wizard:
        entry["level"] = leader.level
        if leader.rolled:
            entry["lore"] = leader.lore
        else:
            entry["spells"] = tuple({"name": n, "lore": leader.lore} for n in leader.spells)
    if leader.items:
        entry["items"] = tuple(leader.items)
    if leader.troop is not None:
        entry["daemon_unit" if leader.profile is None else "unit"] = leader.troop.name
    elif on_table and leader.alone:
        entry |= {"position": leader.position, "facing": float(leader.facing)}
    return entry


def _troop(troop: Troop, on_table: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "profile": troop.profile.name,
        "name": troop.name,
        "models": troop.models,
        "frontage": troop.frontage,
        "skirmish": troop.skirmish,
        "in_combat": troop.engaged,
        "fleeing": troop.fleeing,
    }
    if troop.banner is not None:
        resistance = max(troop.banner, troop.profile.magic_resistance)
        entry |= {"magic_item": True, "magic_resistance": resistance}
    if on_table:
        entry |= {"position": troop.position, "facing": float(troop.facing)}
    return entry
