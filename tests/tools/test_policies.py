"""The command that trains the bundled policies again: its commands are those in their files."""

from pathlib import Path

import pytest

from tools import policies
from wfb_gym.opponents.policy_spec import GENERALIST, SHIPPED
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.registry import make_agent


def test_every_bundled_policy_has_its_command() -> None:
    for name in SHIPPED:
        written = make_agent(name).about["command"]  # type: ignore[attr-defined]
        # The learner was in `experiments` when the policies of scenarios were trained.
        command = written.replace("experiments.train_fast", "agents.train_fast")
        assert command == f"python -m {policies.COMMANDS[name.partition('/')[0]]}"


def test_a_trained_policy_replaces_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quick = "agents.train_fast --scenario apprentice --quick --steps 512"
    monkeypatch.setitem(policies.COMMANDS, "apprentice", quick)
    monkeypatch.setattr(policies, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(policies, "POLICIES", tmp_path)
    for _ in range(2):  # a former run is no error
        assert policies.main(["apprentice"]) == 0
        for number, seat in enumerate(("caster", "dispeller")):
            path = tmp_path / "apprentice" / f"{seat}.npz"
            agent = NetworkAgent(path)
            assert (agent.seat, agent.about["scenario"]) == (number, "apprentice")
            path.unlink()


def test_the_generalist_is_from_its_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    steps = []
    folder = tmp_path / policies.REPORT.folder
    folder.mkdir(parents=True)
    (folder / "policy.npz").write_bytes(b"trained")
    monkeypatch.setattr(policies, "ROOT", tmp_path)
    monkeypatch.setattr(policies, "POLICIES", tmp_path)
    for step in ("run_report", "rewrite_tables"):
        monkeypatch.setattr(policies, step, lambda report, step=step: steps.append((step, report)))
    assert policies.main([GENERALIST]) == 0
    assert steps == [("run_report", policies.REPORT), ("rewrite_tables", policies.REPORT)]
    assert (tmp_path / f"{GENERALIST}.npz").read_bytes() == b"trained"
