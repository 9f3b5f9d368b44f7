"""verifiers' environment, played by its own command against a local server of a scripted model."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers")

from tests.support.adapters import assert_listed, section_of
from tests.support.chat_server import last_action, serve
from tests.support.pages import blocks
from wfb_gym.interop.text import TextGame
from wfb_gym.interop.text_episodes import TextEpisodes
from wfb_gym.interop.verifiers import BattleTasksetConfig, TextBattleTaskset
from wfb_gym.seats import SEATS

KIND = "generated-duel-500"
MODULE = "from wfb_gym.interop.verifiers import TextBattleEnv, TextBattleTaskset, __all__\n"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve() as address:
        yield address


def evaluate(endpoint: str, folder: Path, *options: str, model: str = "last") -> list[Any]:
    """Run verifiers' command on a module of one line, and return the traces."""
    (folder / "magic_phase.py").write_text(MODULE)
    command = [str(Path(sys.executable).parent / "vf-eval"), "magic-phase", "-m", model, *options]
    client = ["--client.base-url", endpoint, "--client.api-key-var", "MODEL_KEY"]
    out = ["--no-push", "--no-rich", "-o", "out", "--run.dir", "run"]
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "MODEL_KEY": "none", "PYTHONPATH": os.pathsep.join(paths)}
    said = subprocess.run(
        [*command, *client, *out], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    if "--dry-run" in options:
        return []
    episodes = (folder / "out" / "run" / "traces.jsonl").read_text().splitlines()
    return [json.loads(each) for each in episodes]


def direct(seed: int, seat: str | None, opponent: str | None) -> TextGame:
    """Play the same battle with the same replies, without verifiers."""
    game, text = TextEpisodes(KIND, seat, opponent).start(seed)
    while not game.done:
        text, *_ = game.step(last_action(text))
    return game


def test_two_agents_get_the_points_of_a_text_game(endpoint: str, tmp_path: Path) -> None:
    episodes = evaluate(endpoint, tmp_path, "-n", "3")
    assert [episode["ok"] for episode in episodes] == [True] * 3
    for episode in episodes:
        game = direct(episode["task"]["data"]["seed"], None, None)
        traces = {trace["agent"]["name"]: trace for trace in episode["traces"]}
        assert set(traces) == set(SEATS)
        for seat, name in enumerate(SEATS):
            points = traces[name]["rewards"]["points"]["score"]
            assert points == pytest.approx(game.points(seat) / 100, abs=1e-9)
            assert traces[name]["metrics"]["decisions"] == game.result(seat).decisions
            assert traces[name]["metrics"]["parse_failures"] == 0


def test_one_agent_against_a_registered_player(endpoint: str, tmp_path: Path) -> None:
    options = ("--env.seat", "dispeller", "--env.opponent", "greedy")
    solved = ("--env.max-bytes", str(1 << 26), "--env.taskset.first-seed", "7")
    (episode,) = evaluate(endpoint, tmp_path, "-n", "1", *options, *solved)
    (trace,) = episode["traces"]
    game = direct(7, "dispeller", "greedy")
    assert (episode["ok"], trace["agent"]["name"]) == (True, "dispeller")
    assert trace["rewards"]["points"]["score"] == pytest.approx(game.points(1) / 100, abs=1e-9)
    assert trace["metrics"]["regret"] >= 0.0
    assert len(trace["info"]["wfb_gym"]["regrets"]) == trace["metrics"]["decisions"] > 0


def test_replies_without_an_action_play_the_lowest_legal_action(
    endpoint: str, tmp_path: Path
) -> None:
    options = ("--env.seat", "caster", "--env.invalid-retries", "0")
    (episode,) = evaluate(endpoint, tmp_path, "-n", "1", *options, model="silent")
    metrics = episode["traces"][0]["metrics"]
    assert metrics["parse_failures"] == metrics["forfeits"] == metrics["decisions"] > 0


def test_a_limit_ends_the_conversation_but_not_the_battle(endpoint: str, tmp_path: Path) -> None:
    options = ("--env.seat", "caster", "--env.caster.max-turns", "1")
    (episode,) = evaluate(endpoint, tmp_path, "-n", "1", *options)
    metrics = episode["traces"][0]["metrics"]
    assert (metrics["truncated"], metrics["parse_failures"]) == (1.0, 0.0)
    assert metrics["decisions"] > 1


def test_tasks_follow_their_seeds() -> None:
    config = BattleTasksetConfig(id="magic-phase", scenario=KIND, first_seed=5)
    tasks = list(islice(TextBattleTaskset(config).load(), 3))
    assert [task.data.seed for task in tasks] == [5, 6, 7]
    assert [task.data.name for task in tasks] == [f"{KIND}#{seed}" for seed in (5, 6, 7)]


def test_the_section_of_the_page_is_current(endpoint: str, tmp_path: Path) -> None:
    assert_listed("verifiers", "verifiers")
    section = section_of("verifiers")
    assert blocks(section, "python") == [MODULE]
    commands = re.findall(r"^\$ vf-eval magic-phase (.+)$", section, re.MULTILINE)
    assert len(commands) == 3
    for options in commands:
        evaluate(endpoint, tmp_path, *options.split(), "--dry-run")
