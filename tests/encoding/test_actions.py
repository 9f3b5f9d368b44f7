"""The action space: one index for each legal action, one meaning for each index."""

import numpy as np
import pytest

import wfb_gym
from tests.support.playing import play_randomly, some, table_of
from wfb_gym.encoding.actions import ArmyNames, action_codec, action_meanings
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.engine import actions as codes
from wfb_gym.engine.battle import Battle
from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS

from .test_layout import ALL, MOST

SCENARIOS = wfb_gym.bundled_scenarios()


@pytest.mark.parametrize("limits", ALL)
def test_codes_and_indices_are_inverse(limits: Limits) -> None:
    codec = action_codec(limits)
    assert codec.code_of[0] == codes.PASS
    assert codec.index_of[codec.code_of].tolist() == list(range(codec.n))
    assert len(codec.index_of) == codes.ACTIONS
    inside = np.flatnonzero(codec.index_of >= 0)
    assert sorted(codec.code_of.tolist()) == inside.tolist()
    assert (np.diff(codec.code_of) > 0).all()


@pytest.mark.parametrize("limits", ALL)
def test_ranges_split_the_space(limits: Limits) -> None:
    codec = action_codec(limits)
    place = 0
    for first, size in codec.ranges.values():
        assert first == place
        place += size
    assert place == codec.n
    sizes = {name: size for name, (_, size) in codec.ranges.items()}
    lasting, aimed = int(limits.in_play), int(limits.targets)
    nothing = limits.own_dice or limits.resistance or limits.stored_dice
    assert sizes == {
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
    codec = action_codec(MOST)
    assert codec.n == codes.ACTIONS
    assert (codec.index_of == np.arange(codes.ACTIONS)).all()


def test_ranges_contain_their_actions() -> None:
    codec = action_codec(
        Limits(ArmyLimits(2, 3, 2, 2, 4), ArmyLimits(1, 2, 0, 3, 9), 4, own_dice=True, rerolls=True,
               in_play=True, targets=True)
    )  # fmt: skip

    def members(name: str) -> list[int]:
        first, size = codec.ranges[name]
        return [int(code) for code in codec.code_of[first : first + size]]

    assert members("dice") == [codes.FIRST_DICE + n for n in range(5)]
    assert members("items") == [codes.FIRST_ITEM, codes.FIRST_ITEM + 1]
    assert members("re-rolls")[-1] == codes.REROLL_ALL
    assert members("wizards") == [codes.FIRST_WIZARD, codes.FIRST_WIZARD + 1]
    assert members("spells") == [codes.FIRST_CAST + s for s in range(3)]
    assert members("own in play") == [codes.FIRST_IN_PLAY + s for s in range(3)]
    assert members("enemy in play") == [codes.FIRST_IN_PLAY + SPELLS + s for s in range(2)]
    assert members("no target") == [codes.FIRST_TARGET]
    own, enemy = codes.FIRST_TARGET + 1, codes.FIRST_TARGET + 1 + TARGETS
    assert members("own targets") == [own + t for t in (0, 1, UNITS, UNITS + 1)]
    assert members("enemy targets") == [enemy + t for t in (0, 1, 2, UNITS)]
    assert members("points") == [codes.FIRST_TARGET + FIRST_POINT + k for k in range(4)]


@pytest.mark.parametrize("switch", ["own_dice", "resistance", "stored_dice"])
def test_zero_dice_are_an_action_if_others_may_join_or_be_kept(switch: str) -> None:
    plain = action_codec(Limits(ArmyLimits(), ArmyLimits(), 3, battle=True, in_play=True))
    assert plain.index_of[codes.FIRST_DICE] == -1
    codec = action_codec(Limits(ArmyLimits(), ArmyLimits(), 3, **{switch: True}))
    assert codec.index_of[codes.FIRST_DICE] == 1


GAMES = [
    *((name, some(name, 60)) for name in SCENARIOS),
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


@pytest.mark.parametrize("limits", ALL)
def test_meanings_without_names_differ(limits: Limits) -> None:
    meanings = action_meanings(limits)
    assert len(meanings) == len(set(meanings)) == action_codec(limits).n


def test_meanings_in_words() -> None:
    limits = Limits(
        ArmyLimits(1, 2, 1), ArmyLimits(0, 1, 0), 2, own_dice=True, rerolls=True, in_play=True
    )
    meanings = action_meanings(
        limits, ArmyNames(("Charm",), ("Ann",), ("Bolt",)), ArmyNames(spells=("Hex",))
    )
    assert meanings == [
        "pass", "0 dice", "1 die", "2 dice", "use Charm",
        *(f"re-roll a {face}" for face in range(1, 7)), "re-roll all",
        "own dice of Ann", "cast Bolt", "cast spell 2",
        "in play: own Bolt", "in play: own spell 2", "in play: enemy Hex",
    ]  # fmt: skip


def test_meanings_of_targets() -> None:
    limits = Limits(ArmyLimits(2, 0, 0, 2), ArmyLimits(1, 0, 0, 2), 1, targets=True)
    meanings = action_meanings(
        limits,
        ArmyNames(wizards=("Ann",), units=("Spears",)),
        ArmyNames(wizards=("Gork",), units=("Boyz", "Wolves")),
    )
    assert meanings == [
        "pass", "1 die", "no target",
        "at own Spears", "at own unit 2", "at own Ann", "at own wizard 2",
        "at enemy Boyz", "at enemy Wolves", "at enemy Gork",
    ]  # fmt: skip
