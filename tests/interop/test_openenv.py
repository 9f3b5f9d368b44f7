"""OpenEnv's environment: its validation, its server and its client."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("openenv")

import requests
from openenv.core.generic_client import GenericEnvClient

import wfb_gym
from tests.support.adapters import assert_listed, section_of
from tests.support.pages import PACKAGE, run_blocks
from tests.support.scripts import run_python
from wfb_gym.interop.openenv import BattleAction, BattleEnvironment
from wfb_gym.interop.text import TextGame, text_player

SCENARIO = "apprentice"
FOLDER = PACKAGE / "interop" / "openenv"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start the server as a user does, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "wfb_gym.interop.openenv", "--scenario", SCENARIO]
    options = ["--port", str(port), "--opponent", "greedy", "--max-bytes", str(1 << 26)]
    process = subprocess.Popen([*command, *options])
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert process.poll() is None
            try:
                requests.get(f"{address}/health", timeout=5)
                break
            except requests.ConnectionError:
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_its_validation_accepts_the_package_and_the_server(server: str) -> None:
    package = (FOLDER, "--level", "static", "--skip-build")
    for options in (package, ("--url", server, "--timeout", "60")):
        said = run_python("-m", "openenv.cli", "validate", *options)
        assert said.status == 0, said


@pytest.mark.parametrize("seed", range(3))
def test_its_client_plays_a_battle_with_the_results_of_a_text_game(server: str, seed: int) -> None:
    replies, rewards = [], []
    with GenericEnvClient(base_url=server).sync() as client:
        found: Any = client.reset(seed=seed)
        assert "# Rules" in found.observation["text"]
        while not found.done:
            replies.append(f"[{found.observation['view']['actions'][-1]['label']}]")
            found = client.step({"reply": replies[-1]})
            rewards.append(found.reward)
            assert found.observation["regret"] >= 0.0
        state = client.state()
    game = TextGame(SCENARIO, "caster", "greedy", retries=1)
    game.reset(seed)
    expected = [game.step(reply)[1] / 100 for reply in replies]
    assert rewards == pytest.approx(expected, abs=1e-9)
    assert game.done
    assert state["points"] == pytest.approx(game.points(0))
    assert state["share"] == pytest.approx(game.result().share)
    assert (state["step_count"], state["seed"], state["seat"]) == (len(replies), seed, "caster")


def test_sessions_are_separate(server: str) -> None:
    clients = (GenericEnvClient(base_url=server).sync() for _ in range(2))
    with next(clients) as first, next(clients) as second:
        for client, seed in ((first, 1), (second, 2)):
            client.reset(seed=seed)
        first.step({"reply": "nothing"})
        # A seed predicts the dice, so it is not shown during the battle.
        assert [client.state()["seed"] for client in (first, second)] == [None, None]
        assert [client.state()["parse_failures"] for client in (first, second)] == [1, 0]


def test_errors_are_reported_and_the_last_one_plays_the_lowest_legal_action() -> None:
    env = BattleEnvironment(scenario=SCENARIO)
    lowest = env.reset(seed=0).view["actions"][0]["index"]
    found = env.step(BattleAction(reply="no action"))
    assert (found.error, found.action, found.reward) == ("parse failure", None, 0.0)
    assert found.reason in found.text
    found = env.step(BattleAction(reply="[999]"))
    assert (found.error, found.action) == ("illegal action", lowest)
    assert (env.state.forfeits, env.state.step_count) == (1, 2)


def test_the_dispeller_can_be_played() -> None:
    env = BattleEnvironment(scenario="archmage-duel", seat="dispeller", opponent="greedy")
    found, total = env.reset(seed=3), 0.0
    game = TextGame("archmage-duel", "dispeller", "greedy")
    game.reset(3)
    player = text_player("veteran", game, "dispeller")
    while not found.done:
        reply = player(found.text)
        game.step(reply)
        found = env.step(BattleAction(reply=reply))
        total += found.reward
    assert game.done
    assert total == pytest.approx(game.points(1) / 100, abs=1e-9)


def test_a_battle_without_decisions_gives_its_reward_at_once() -> None:
    env = BattleEnvironment(scenario=SCENARIO, seat="dispeller", opponent="greedy")
    seed = next(seed for seed in range(100) if env.reset(seed=seed).done)
    found = env.reset(seed=seed)
    assert found.reward == pytest.approx(env.state.points / 100)


def test_the_description_names_the_version_and_the_application() -> None:
    text = (FOLDER / "openenv.yaml").read_text(encoding="utf-8")
    about = dict(re.findall(r"^(\w+): (\S+)$", text, re.MULTILINE))
    assert about["version"] == wfb_gym.__version__
    module, _, name = about["app"].partition(":")
    assert "/reset" in getattr(import_module(module), name).openapi()["paths"]


def test_a_step_before_reset_and_both_seats_are_not_accepted() -> None:
    with pytest.raises(ValueError, match="call reset"):
        BattleEnvironment(scenario=SCENARIO).step(BattleAction(reply="[0]"))
    with pytest.raises(ValueError, match="expected a seat and an opponent"):
        BattleEnvironment(seat=None)


def test_the_web_interface_gets_the_legal_actions() -> None:
    env = BattleEnvironment(scenario=SCENARIO)
    found = env.reset(seed=0).model_dump()
    buttons = env.web_actions(found)
    assert [label for label, _ in buttons] == [each["label"] for each in found["view"]["actions"]]
    assert not env.step(BattleAction(**buttons[0][1])).error


def test_the_section_of_the_page_runs(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_listed("OpenEnv", "openenv")
    run_blocks(section_of("OpenEnv").replace("http://127.0.0.1:8000", server))
    printed = capsys.readouterr().out
    assert printed.startswith("# Rules")
    assert printed.endswith("0.0 0.0\n")
