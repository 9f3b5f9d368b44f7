"""Shares of what is kept that count: each for what it is named after, and as they are loaded."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.prices import MOST_PHASES, Kept, Prices, load_prices, plain_prices
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict

from ...engine.builders import Data, army, lasting, miscast, spell, unit, wizard

SPELLS = spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)
LEARNED_PLAYER = "phase-search:learned"
BEFORE = {
    "border-skirmish": 410.7492555964176,
    "the-iron-tide": 954.2369683871888,
    "the-crooked-mile": -624.412371949842,
}
"""Sums of values in a battle, as they are when one share counts for all kinds."""


def _scenario(with_units: bool = True, phases: int = 3, *more: Data, **keys: object) -> Scenario:
    """Two spells and a stone against a scroll."""
    units = {"units": [unit()]} if with_units else {}
    caster = army(wizard(2, *SPELLS, *more, items=["Power Stone"]), power_dice=3, **units)
    reader = wizard(1, name="Reader", items=["Dispel Scroll"])
    document = {"name": "kept", "phases": phases, "caster": caster}
    dispeller = army(reader, dispel_dice=2, **units)
    return scenario_from_dict({**document, "dispeller": dispeller, **keys})


def _prices(kind: Kept, share: float) -> Prices:
    prices = plain_prices(1.0)
    prices[kind] = share
    return prices


def _begun(scenario: Scenario) -> Battle:
    battle = Battle(pack(scenario))
    while battle.is_chance():
        battle.resolve(battle.chance_outcomes()[0][0])
    return battle


def _agent_in(scenario: Scenario, prices: Prices) -> PhaseSearchAgent:
    """Return an agent that has valued the first decision."""
    agent = PhaseSearchAgent(prices=prices)
    assert agent.action_values(_begun(scenario))
    return agent


def _later(scenario: Scenario, prices: Prices) -> NDArray[np.float64]:
    """Points that the first phase leaves for the last, by stones and by scrolls that are kept."""
    later = _agent_in(scenario, prices)._room.duel[0].later
    return np.array(later[:2, :2])


def _visited(name: str, decisions: int = 30) -> list[Battle]:
    """Return decisions of a battle that goes all ways in turn."""
    battle, step = Battle(pack(load_scenario(name))), 0
    found: list[Battle] = []
    while not battle.is_over and len(found) < decisions:
        step += 1
        if battle.is_chance():
            codes = [code for code, _ in battle.chance_outcomes()]
            battle.resolve(codes[step % len(codes)])
        else:
            found.append(battle.copy())
            legal = battle.legal_actions()
            battle.act(int(legal[step % len(legal)]))
    return found


def test_a_share_for_scrolls_counts_what_a_scroll_takes() -> None:
    whole, less = (_later(_scenario(), _prices(Kept.SCROLL, share)) for share in (1.0, 0.4))
    taken = whole[:, 0] - whole[:, 1]
    assert taken.min() > 5.0
    assert less[:, 0] - less[:, 1] == pytest.approx(0.4 * taken)
    assert less[:, 1] == pytest.approx(whole[:, 1])


def test_a_share_for_aids_counts_what_a_stone_brings() -> None:
    whole, less = (_later(_scenario(), _prices(Kept.AID, share)) for share in (1.0, 0.4))
    brings = whole[1, 1] - whole[0, 1]
    assert brings > 5.0
    assert less[1, 1] - less[0, 1] == pytest.approx(0.4 * brings)
    assert less[1] == pytest.approx(whole[1])


def test_a_share_for_wizards_counts_what_a_miscast_takes() -> None:
    scenario = _scenario(True, 3, **miscast({"kind": "locked", "until": "battle_end"}))
    costs = []
    for share in (0.0, 0.5, 1.0):
        values = _agent_in(scenario, _prices(Kept.WIZARD, share)).action_values(_begun(scenario))
        costs.append(max(values.values()))
    assert costs[0] > costs[1] + 0.1
    assert costs[1] > costs[2] + 0.1
    assert np.array_equal(
        _later(scenario, _prices(Kept.WIZARD, 0.5)), _later(scenario, plain_prices(1.0))
    )


def test_a_share_for_spells_in_play_counts_what_they_bring_from_the_next_phase_on() -> None:
    ward = lasting("Ward", 7, 0.0, worth_per_phase=12.0)
    scenario = _scenario(True, 4, ward)
    whole, half, none = (
        _agent_in(scenario, _prices(Kept.IN_PLAY, share))._room.ahead.before[0, 2] - 1.0
        for share in (1.0, 0.5, 0.0)
    )
    assert whole > 0.1
    assert half == pytest.approx(0.5 * whole)
    assert none == 0.0


def test_each_number_of_phases_to_come_has_its_own_share() -> None:
    by_phases = plain_prices(1.0)
    by_phases[Kept.SCROLL, 0] = 0.4
    with_last, plain = (_later(_scenario(), prices) for prices in (by_phases, plain_prices(1.0)))
    assert not np.allclose(with_last, plain)
    by_phases = plain_prices(1.0)
    by_phases[:, 1:] = 0.4
    assert np.array_equal(_later(_scenario(), by_phases), plain)


def test_what_is_counted_alike_stays_as_it_is() -> None:
    agent = PhaseSearchAgent()
    for name, total in BEFORE.items():
        values = [agent.action_values(battle) for battle in _visited(name)]
        assert sum(sum(each.values()) for each in values) == pytest.approx(total)


def test_plain_prices_are_what_the_fade_says() -> None:
    ours, theirs = PhaseSearchAgent(fade=0.6), PhaseSearchAgent(prices=plain_prices(0.6))
    other = PhaseSearchAgent()
    differs = False
    for battle in _visited("the-iron-tide"):
        values = ours.action_values(battle)
        assert theirs.action_values(battle) == values
        differs |= other.action_values(battle) != values
    assert differs


def test_without_units_all_that_is_kept_counts() -> None:
    low = np.full((len(Kept), MOST_PHASES), 0.3)
    assert np.array_equal(
        _later(_scenario(False), low), _later(_scenario(False), plain_prices(1.0))
    )
    assert not np.array_equal(_later(_scenario(), low), _later(_scenario(), plain_prices(1.0)))


def test_the_learned_shares_are_played_by_name() -> None:
    named, loaded = make_agent(LEARNED_PLAYER), PhaseSearchAgent(prices=load_prices())
    plain = make_agent("phase-search")
    differs = False
    for battle in _visited("the-iron-tide"):
        values = named.action_values(battle)  # type: ignore[attr-defined]
        assert loaded.action_values(battle) == values
        differs |= plain.action_values(battle) != values  # type: ignore[attr-defined]
    assert differs


def test_the_learned_shares_are_likely_ones() -> None:
    prices = load_prices()
    assert prices.shape == (len(Kept), MOST_PHASES)
    assert prices.min() > 0.2
    assert prices.max() < 2.0


def test_no_other_word_stands_for_a_number() -> None:
    with pytest.raises(ValueError, match="at most 6 digits, or learned, found 'learnt'"):
        make_agent("phase-search:learnt")
    with pytest.raises(ValueError, match="at most 6 digits, found 'learned'"):
        make_agent("search:learned")


def test_the_learned_shares_need_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from wfb_gym.players.registry import make_agent; make_agent({LEARNED_PLAYER!r})"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def _written(shares: object, folder: Path) -> Path:
    path = folder / "prices.json"
    path.write_text(json.dumps({"shares": shares}), encoding="utf-8")
    return path


def test_written_shares_are_loaded(tmp_path: Path) -> None:
    given = np.arange(1.0, 1.0 + len(Kept) * MOST_PHASES).reshape(len(Kept), MOST_PHASES)
    names = [kind.name.lower() for kind in reversed(Kept)]  # in whatever order
    shares = dict(zip(names, given[::-1].tolist(), strict=True))
    assert np.array_equal(load_prices(_written(shares, tmp_path)), given)


@pytest.mark.parametrize(
    "shares",
    [
        {},
        [1.0],
        {kind.name.lower(): [1.0] * MOST_PHASES for kind in Kept if kind != Kept.AID},
        {kind.name.lower(): [1.0] for kind in Kept},
        {kind.name.lower(): [float("nan")] * MOST_PHASES for kind in Kept},
        {kind.name.lower(): ["much"] * MOST_PHASES for kind in Kept},
    ],
)
def test_files_without_a_share_for_each_are_refused(shares: object, tmp_path: Path) -> None:
    path = _written(shares, tmp_path)
    message = rf"prices\.json: expected {MOST_PHASES} shares of each of scroll, aid, wizard, in_pla"
    with pytest.raises(ValueError, match=message):
        load_prices(path)


def test_what_is_no_json_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text("shares", encoding="utf-8")
    with pytest.raises(ValueError, match="expected 6 shares"):
        load_prices(path)
    with pytest.raises(FileNotFoundError):
        load_prices(tmp_path / "none.json")
