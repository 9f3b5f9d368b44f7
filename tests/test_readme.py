"""The README: its Python runs, its scenario file loads, its commands work."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from wfb_gym import solver
from wfb_gym.cli import main
from wfb_gym.packing import pack
from wfb_gym.scenario import bundled_scenarios, load_scenario

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHORTER = {"model.learn(200_000)": "model.learn(1_000)", "PhaseVecEnv(512,": "PhaseVecEnv(32,"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = re.findall(r"^\$ python -m (wfb_gym .*)$", README, re.MULTILINE)


def run(*arguments: str) -> None:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


def test_there_is_something_to_test() -> None:
    assert len(blocks("python")) >= 4
    assert len(blocks("toml")) == 2
    assert len(COMMANDS) >= 3
    for long in SHORTER:
        assert long in README


@pytest.mark.needs("torch")  # it asks for a shipped policy
def test_the_python_runs_from_top_to_bottom() -> None:
    code = "\n".join(blocks("python"))
    # Its default of 2048 would make one rollout of 512 environments a million steps.
    assert "n_steps=" in code
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    run("-c", code)


def test_throwing_the_dice_prints_what_the_readme_says() -> None:
    (code,) = [block for block in blocks("python") if "battle.roll(" in block]
    found = re.search(r"print\(battle\.points\) +# (\S+)", code)
    assert found is not None
    run("-c", f"{code}\nassert battle.points == {found[1]}")


def test_the_scenario_loads(tmp_path: Path) -> None:
    path = tmp_path / "my-duel.toml"
    path.write_text("\n".join(blocks("toml")), encoding="utf-8")
    assert pack(load_scenario(path)).shape == (1,)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0


def test_the_table_of_values_is_what_solving_gives() -> None:
    start = README.index("| scenario | phases | points |")
    lines = README[start:].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert sorted({row[0] for row in rows}) == bundled_scenarios()
    small = [row for row in rows if row[4] and int(row[4].replace(",", "")) < 10_000]
    assert len(small) >= 3
    for name, phases, points, _, decisions, *_ in small:
        solution = solver.solve(load_scenario(name).first_phases(int(phases)))
        assert (points, decisions) == (f"{solution.value:+.2f}", f"{solution.states:,}")
