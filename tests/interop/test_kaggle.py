"""Kaggle's Game Arena: its environment and its harness, against a scripted model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("kaggle_environments")

import pyspiel
from kaggle_environments.core_harness import create_agent_fn

from tests.support.adapters import assert_listed, section_of
from tests.support.chat_server import last_action, serve
from tests.support.hidden import SECRET_SCROLL
from tests.support.pages import run_blocks
from wfb_gym.interop import kaggle
from wfb_gym.interop.openspiel import load_battle

SCENARIO = "apprentice"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve() as address:
        yield address


def agent(endpoint: str, model: str = "last") -> Any:
    """Return a model's agent, made by Kaggle's harness."""
    options = {"api_base": endpoint, "api_key": "none"}
    return create_agent_fn(kaggle.HARNESS, model_override=(f"openai/{model}", options))


def loaded(scenario: str) -> Any:
    return pyspiel.load_game(kaggle.GAME_NAME, {"scenario": scenario})


def observation_of(state: Any, player: int) -> dict[str, Any]:
    """Return the part of Kaggle's observation that the harness reads."""
    return {"observationString": state.observation_string(player)}


@pytest.mark.parametrize("scenario", ["archmage-duel", "border-skirmish"])
def test_the_harness_plays_a_battle(endpoint: str, scenario: str) -> None:
    env = kaggle.make(scenario, seed=3)
    env.run([agent(endpoint), agent(endpoint)])
    assert [each.status for each in env.state] == ["DONE", "DONE"]
    state = load_battle(scenario).new_initial_state()
    for action in env.info["actionHistory"]:
        if not state.is_chance_node():
            assert int(action) == max(state.legal_actions())
        state.apply_action(int(action))
    assert state.is_terminal()
    assert [each.reward for each in env.state] == pytest.approx(state.returns())


def test_replies_without_an_action_forfeit_by_the_rule_of_the_arena(endpoint: str) -> None:
    env = kaggle.make(SCENARIO, seed=0)
    env.run([agent(endpoint, "silent"), agent(endpoint)])
    assert [each.reward for each in env.state] == [-1, 1]
    assert env.steps[-1][0].action["failureCategory"] == "UNPARSABLE"


@pytest.mark.parametrize("scenario", ["archmage-duel", "border-skirmish", "seventh-edition-duel"])
def test_labels_are_those_of_the_legal_actions_in_every_position(scenario: str) -> None:
    rng = np.random.default_rng(0)
    state = loaded(scenario).new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choice(outcomes, p=np.array(chances) / sum(chances)))
            continue
        mover = state.current_player()
        moves = kaggle.get_legal_moves(observation_of(state, mover))
        assert list(moves) == state.legal_actions()
        assert kaggle.get_legal_moves(observation_of(state, 1 - mover)) == {}
        observation = observation_of(state, mover)
        for index, label in moves.items():
            for reply in (f"[{index}]", f'```json\n{{"move": "{label}"}}\n```'):
                parsed = kaggle.parse_response(reply, list(moves.values()), observation=observation)
                assert parsed.legal_action == label
        state.apply_action(rng.choice(list(moves)))
    assert all(not json.loads(state.observation_string(player))["actions"] for player in (0, 1))


def test_the_prompt_has_the_rules_the_actions_and_the_reason_of_an_error() -> None:
    state = loaded(SCENARIO).new_initial_state()
    observation = observation_of(state, 0)
    prompt = kaggle.generate_prompt(observation, [])
    assert "# Rules" in prompt
    assert last_action(prompt) == f"The last one looks best: [{max(state.legal_actions())}]"
    again = kaggle.generate_prompt(observation, [], "no brackets")
    assert again.startswith(prompt)
    assert "found none" in again
    parsed = kaggle.parse_response("[999]", None, observation=observation)
    assert parsed.legal_action is None
    assert "[999]" in parsed.raw_action


def test_the_enemys_deal_changes_no_observation(tmp_path: Path) -> None:
    file = tmp_path / "secret-scroll.toml"
    file.write_text(SECRET_SCROLL, encoding="utf-8")
    dealt = []
    for deal in (0, 1):
        state = loaded(str(file)).new_initial_state()
        assert state.hides_state_from_agents()
        state.apply_action(deal)
        dealt.append([state.observation_string(player) for player in (0, 1)])
    assert dealt[0][0] == dealt[1][0]
    assert dealt[0][1] != dealt[1][1]


def test_agents_get_the_state_only_if_nothing_is_hidden(tmp_path: Path) -> None:
    file = tmp_path / "secret-scroll.toml"
    file.write_text(SECRET_SCROLL, encoding="utf-8")
    for scenario, expected in ((SCENARIO, True), (str(file), False)):
        env = kaggle.make(scenario, seed=0)
        env.reset(2)
        env.step([{"submission": -1}, {"submission": -1}])  # the first step plays nothing
        assert ("serializedGameAndState" in env.state[0].observation) is expected


def test_the_section_of_the_page_runs(endpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_listed("Kaggle's Game Arena", "kaggle-environments")
    section = section_of("Kaggle Game Arena").replace("http://127.0.0.1:8000/v1", endpoint)
    names = run_blocks(section.replace("MODEL", "last"))
    assert [state.status for state in names["env"].state] == ["DONE", "DONE"]
    assert capsys.readouterr().out.endswith(f"{[state.reward for state in names['env'].state]}\n")
