"""TextArena's environment: its registry, its loop and its wrappers."""

from typing import Any

import pytest

ta = pytest.importorskip("textarena")

from tests.support.adapters import assert_listed, section_of  # noqa: E402
from tests.support.pages import run_blocks  # noqa: E402
from tests.support.scripts import run_python  # noqa: E402
from wfb_gym.interop.text import text_player  # noqa: E402
from wfb_gym.interop.textarena import TextArenaEnv  # noqa: E402
from wfb_gym.seats import SEATS  # noqa: E402
from wfb_gym.transcripts import record  # noqa: E402

ENV_ID = "wfb_gym/MagicPhase-v0"
SCENARIO = "archmage-duel"


def play(env: Any, players: dict[int, Any], seed: int) -> tuple[dict[int, float], dict[int, Any]]:
    """Play TextArena's loop, as in its documentation."""
    env.reset(num_players=len(players), seed=seed)
    speakers = {}
    for player, name in players.items():
        seat = env.game.seats[player]
        speakers[player] = text_player(name, env.game, seat, seed=seed)
    done = False
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step(action=speakers[player](observation))
    rewards, info = env.close()
    return rewards, info


@pytest.mark.parametrize("seed", range(3))
def test_two_players_get_the_points_of_direct_play(seed: int) -> None:
    env = ta.make(ENV_ID, scenario=SCENARIO)
    rewards, info = play(env, {0: "greedy", 1: "veteran"}, seed)
    points = record(SCENARIO, "greedy", "veteran", seed=seed).points
    assert rewards == {0: pytest.approx(points / 100), 1: pytest.approx(-points / 100)}
    assert [info[player]["invalid_move"] for player in info] == [False, False]


@pytest.mark.parametrize("seat", SEATS)
def test_one_player_against_an_opponent(seat: str) -> None:
    env = ta.make(ENV_ID, scenario=SCENARIO, seat=seat, opponent="veteran", points_per_reward=10)
    rewards, _ = play(env, {0: "greedy"}, seed=5)
    players = ("greedy", "veteran") if seat == "caster" else ("veteran", "greedy")
    points = record(SCENARIO, *players, seed=5).points * (1 if seat == "caster" else -1)
    assert rewards == {0: pytest.approx(points / 10)}


def test_regrets_of_optimal_play_are_zero() -> None:
    env = TextArenaEnv(scenario="apprentice", max_bytes=1 << 26)
    _, info = play(env, {0: "optimal", 1: "optimal"}, seed=1)
    assert [info[player]["regret"] for player in (0, 1)] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert info[0]["share"] == pytest.approx(1.0)


def test_the_wrapper_shows_the_rules_and_the_whole_exchange() -> None:
    env = ta.make(ENV_ID, scenario=SCENARIO)
    env.reset(num_players=2, seed=0)
    player, first = env.get_observation()
    assert "# Rules" in first
    assert "# Your decision" in first
    reply = f"My choice is [{env.game.legal_actions[-1].label}]."
    done, info = env.step(reply)
    while not done and env.state.current_player_id != player:
        env.get_observation()
        done, _ = env.step("[pass]")
    exchange = env.get_observation()[1]
    assert exchange.startswith(first)
    assert f"[Caster] {reply}" in exchange
    assert f"[GAME] played [{info['action']}] {info['label']}" in exchange


def test_errors_are_reported_and_the_last_one_plays_the_lowest_legal_action() -> None:
    env = ta.make(f"{ENV_ID}-raw", scenario=SCENARIO, retries=1)
    env.reset(num_players=2, seed=0)
    player, _ = env.get_observation()
    lowest = env.game.legal_actions[0].index
    _, info = env.step("no brackets")
    assert info["action"] is None
    again, messages = env.get_observation()
    assert again == player
    kinds = {kind for _, text, kind in messages if "found none" in text}
    assert ta.ObservationType.GAME_ADMIN in kinds
    _, info = env.step("[nonsense]")
    assert info["forfeited"]
    assert info["action"] == lowest
    assert env.state.game_info[player]["invalid_move"]


def test_replies_are_not_shown_to_the_enemy() -> None:
    env = ta.make(f"{ENV_ID}-raw", scenario=SCENARIO)
    env.reset(num_players=2, seed=0)
    done = False
    while not done:
        player, messages = env.get_observation()
        assert all(sender in (ta.GAME_ID, player) for sender, _, _ in messages)
        done, _ = env.step(f"my secret {player} [{env.game.legal_actions[-1].index}]")
    for player in (0, 1):
        texts = [text for _, text, _ in env.state.observations[player]]
        assert not any(f"secret {1 - player}" in text for text in texts)


def test_generated_scenarios_follow_the_seed() -> None:
    env = TextArenaEnv(scenario="generated-duel-500")
    names = []
    for seed in (3, 4, 3):
        env.reset(num_players=2, seed=seed)
        names.append(env.game.scenario.name)
    assert names[0] == names[2] != names[1]


def test_a_battle_without_decisions_is_over_at_the_first_step() -> None:
    env = TextArenaEnv(scenario="apprentice", seat="dispeller", opponent="veteran")
    env.reset(num_players=1, seed=5)
    _, messages = env.get_observation()
    assert "apprentice, over" in messages[-1][1]
    assert env.step("[0]")[0]
    points = record("apprentice", "veteran", "random", seed=5).points
    assert env.close()[0] == {0: pytest.approx(-points / 100)}


@pytest.mark.parametrize("imports", ["textarena, wfb_gym", "wfb_gym.interop.textarena, textarena"])
def test_textarena_knows_the_ids(imports: str) -> None:
    code = f"import {imports}\nfor end in ('', '-raw'): print(textarena.make('{ENV_ID}' + end))"
    said = run_python("-c", code)
    assert said.status == 0, said.err
    assert "LLMObservationWrapper" in said.out.splitlines()[0]
    assert "TextArenaEnv" in said.out.splitlines()[1]


def test_the_number_of_players_is_checked() -> None:
    with pytest.raises(ValueError, match="num_players: expected 1, found 2"):
        TextArenaEnv(scenario=SCENARIO, opponent="greedy").reset(num_players=2, seed=0)


def test_the_section_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert_listed("TextArena", "textarena")
    names = run_blocks(section_of("TextArena"))
    printed = capsys.readouterr().out
    assert printed == f"{names['rewards']} {names['about'][0]['reason']}\n"
    assert sum(names["rewards"].values()) == 0
