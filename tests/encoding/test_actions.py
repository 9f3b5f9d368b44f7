"""The action space: one index for each legal action, one meaning for each index."""

import numpy as np
import pytest

import wfb_gym
from tests.support.playing import play_randomly, some, table_of
from wfb_gym.encoding.actions import ArmyNames, action_codec, action_meanings
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.engine import actions as codes
from wfb_gym.engine.battle import Battle

from .test_layout import ALL, MOST

SCENARIOS = wfb_gym.bundled_scenarios()


@pytest.mark.parametrize("limits", ALL)
def test_codes_and_indices_are_inverse_and_ranges_split_the_space(limits: Limits) -> None:
    codec, meanings = action_codec(limits), action_meanings(limits)
    assert codec.code_of[0] == codes.PASS
    assert codec.index_of[codec.code_of].tolist() == list(range(codec.n))
    assert len(codec.index_of) == codes.ACTIONS
    assert codec.code_of.tolist() == np.flatnonzero(codec.index_of >= 0).tolist()
    assert len(meanings) == len(set(meanings)) == codec.n
    place = 0
    for first, size in codec.ranges.values():
        assert first == place
        place += size
    assert place == codec.n
    lasting, aimed = int(limits.in_play), int(limits.targets)
    nothing = limits.own_dice or limits.resistance or limits.stored_dice
    assert {name: size for name, (_, size) in codec.ranges.items()} == {
        "pass": 1,
        "dice": limits.dice + int(nothing),
        "items": limits.own.items,
        "re-rolls": 7 * int(limits.rerolls),
        "wizards": limits.own.wizards * int(limits.own_dice),
        "spells": limits.own.spells,
        "own in play": limits.own.spells * lasting,
        "enemy in play": limits.opponent.spells * lasting,
        "no target": aimed,
        "own targets": (limits.own.units + limits.own.wizards) * aimed,
        "enemy targets": (limits.opponent.units + limits.opponent.wizards) * aimed,
        "points": limits.own.comet_points,
    }


def test_the_largest_space_holds_every_code() -> None:
    assert action_codec(MOST).n == codes.ACTIONS


GAMES = [
    *((name, some(name, 60)) for name in ("grand-conclave", "long-siege", "the-winds-unbound")),
    *(pytest.param(name, some(name, 600, 60), marks=pytest.mark.slow) for name in SCENARIOS),
]


@pytest.mark.parametrize(("scenario", "games"), GAMES)
def test_every_legal_action_has_an_index(scenario: str, games: int) -> None:
    packed = table_of(scenario)
    codecs = [action_codec(fit(packed, seat)) for seat in (0, 1)]
    rng = np.random.default_rng(1)
    seen: list[set[int]] = [set(), set()]
    for _ in range(games):
        for battle in play_randomly(Battle(packed), rng):
            legal = battle.legal_actions()
            indices = codecs[battle.mover].index_of[legal].tolist()
            assert min(indices) >= 0, (battle.node, legal)
            assert len(set(indices)) == len(legal)
            seen[battle.mover] |= set(indices)
    assert len(seen[0]) >= 5
    assert len(seen[1]) > 2


def test_meanings_in_words() -> None:
    sizes = ArmyLimits(1, 2, 1), ArmyLimits(0, 1, 0), 2
    limits = Limits(*sizes, own_dice=True, rerolls=True, in_play=True)
    own, enemy = ArmyNames(("Charm",), ("Ann",), ("Bolt",)), ArmyNames(spells=("Hex",))
    assert action_meanings(limits, own, enemy) == [
        "pass", "0 dice", "1 die", "2 dice", "use Charm",
        *(f"re-roll a {face}" for face in range(1, 7)), "re-roll all",
        "own dice of Ann", "cast Bolt", "cast spell 2",
        "in play: own Bolt", "in play: own spell 2", "in play: enemy Hex",
    ]  # fmt: skip


def test_meanings_of_targets() -> None:
    limits = Limits(ArmyLimits(2, 0, 0, 2), ArmyLimits(1, 0, 0, 2), 1, targets=True)
    own = ArmyNames(wizards=("Ann",), units=("Spears",))
    enemy = ArmyNames(wizards=("Gork",), units=("Boyz", "Wolves"))
    assert action_meanings(limits, own, enemy) == [
        "pass", "1 die", "no target",
        "at own Spears", "at own unit 2", "at own Ann", "at own wizard 2",
        "at enemy Boyz", "at enemy Wolves", "at enemy Gork",
    ]  # fmt: skip
