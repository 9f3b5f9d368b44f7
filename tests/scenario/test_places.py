"""The battlefield of a scenario, and the positions on it."""

from typing import Any

import pytest

from tests.scenario.documents import Data, scenario, unit, wizard
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.battlefield import Battlefield

FIELD = {"width": 72.0, "depth": 48}
WOOD = {"name": "Old Wood", "kind": "wood", "position": [20, 24], "size": [8, 6]}


def on_field(terrain: tuple[Data, ...] = (), **caster: Any) -> Scenario:
    return scenario(keys={"battlefield": {**FIELD, "terrain": list(terrain)}}, **caster)


@pytest.mark.parametrize(("keys", "blocks"), [
    ({"kind": "wood"}, True), ({"kind": "hill"}, True), ({"kind": "ruins"}, True),
    ({"kind": "building"}, True), ({"kind": "water"}, False), ({"kind": "wall"}, False),
    ({"kind": "rocks"}, False), ({"kind": "wood", "blocks_sight": False}, False),
])  # fmt: skip
def test_blocking_of_sight_follows_from_the_kind_unless_it_is_given(
    keys: Data, blocks: bool
) -> None:
    field = on_field(({**WOOD, **keys},)).battlefield
    assert isinstance(field, Battlefield)
    assert field.terrain[0].blocks_sight is blocks


@pytest.mark.parametrize(
    ("army", "place"),
    [
        ({"units": [unit(position=[30, 20.5])]}, (30.0, 20.5)),
        ({"wizards": [wizard(position=[30, 20])]}, (30.0, 20.0)),
        ({"units": [unit(position=[30, 20])], "wizards": [wizard(unit="Boyz")]}, None),
        ({"wizards": [wizard(status="dead")]}, None),
    ],
)
def test_pieces_have_a_position_unless_they_are_in_a_unit_or_off_the_table(
    army: Data, place: tuple[float, float] | None
) -> None:
    read = on_field(**army).caster
    positions = [unit.position for unit in read.units] + [who.position for who in read.wizards]
    assert positions[-1] == place
