"""Wrong arguments of scripts in agents/ and experiments/: one line on stderr, no files written."""

from pathlib import Path

import pytest

from tests.support.scripts import Scripts

REJECTED = {
    "experiments.benchmark": [
        ("--wheel nowhere.whl", "--wheel: expected a wheel, found no file nowhere.whl")],
    "experiments.exploitability": [
        ("veteren", "did you mean veteran?"),
        ("veteran:2", "expected the chance of a random action"),
        ("veteran --memory 0", "--memory: expected more than 0, found 0")],
    "experiments.exploitability_bounds": [
        ("veteren", "did you mean veteran?"),
        ("--battles 0", "--battles: expected more than 0, found 0")],
    "experiments.horizon": [
        ("--scenario apprentice:99",
         "scenario: phases: expected a whole number from 1 to 12, found 99"),
        ("--phases two", "expected a whole number from 1, found 'two'")],
    "experiments.leaderboard": [
        ("--evaluate greedy a.zip", "expected names or saved models, found both"),
        ("--evaluate greedy veteran --name x", "--name: expected one agent, found 2"),
        ("--task apprentice/caster --seat dispeller", "--seat: expected tasks of the dispeller"),
        ("--evaluate greedy --name 'a b'", "--name: expected a name of up to 64 letters"),
        ("--evaluate greedy --about missing.toml", "missing.toml: expected a TOML file, found"),
        ("--evaluate missing.zip --name x", "missing.zip: expected a saved model, found no file")],
    "experiments.optimality_gap": [
        ("veteren", "did you mean veteran?"),
        ("--budget -1", "--budget: expected 0 or more, found -1"),
        ("--battles 1000001", "--battles: expected at most 1,000,000"),
        ("archmage-duel/caster --scenario archmage-duel",
         "needs a model of the other seat: CASTER+D"),
        ("greedy --exploiter archmage-duel/caster+archmage-duel/dispeller --scenario apprentice",
         "archmage-duel/caster+archmage-duel/dispeller as caster in apprentice: ")],
    "experiments.solve": [
        ("", "expected scenarios or --all"),
        ("archmage-duel --all", "expected scenarios or --all, not both"),
        ("missing.toml", "missing.toml: expected a scenario file"),
        ("archmage-duel --memory 0", "expected a whole number from 1, found '0'"),
        ("border-skirmish --phases 7", "--phases: phases: expected 1..6, found 7"),
        ("archmage-duel apprentice --plot a.png", "--plot: expected one scenario, found 2"),
        ("archmage-duel --plot a.doc", "--plot: expected a file that ends in one of")],
    "experiments.strength": [
        ("greedy", "expected a reference and at least one more"),
        ("greedy runs/{scenario}.npz --scenario apprentice --pool greedy",
         "runs/apprentice.npz: expected a saved network, found no file")],
    "experiments.tournament": [
        ("veteren", "did you mean veteran?"), ("random random", "agent: random is given twice"),
        ("missing.zip", "missing.zip: expected a saved model, found no file"),
        ("random --scenario archmage-dual", "scenario: expected"),
        ("random --battles 0", "--battles: expected more than 0, found 0"),
        ("random --seed -1", "expected 0 or more, found -1")],
    "experiments.value_of_hiding": [
        ("--quick --scenario hidden-scroll", "without hidden items"),
        ('--quick --item "Wizard\'s Staff"', "does nothing before it is used"),
        ("--quick --item Nothing", "an item of this file or bundled"),
        ("--quick --chances 0", "--chances: expected more than 0, found 0")],
    "experiments.value_of_history": [
        ("archmage-duel", "expected hidden items, found none in archmage-duel")],
    "agents.compare": [
        ("--scenario dawn-at-grimmwald", "--scenario: dawn-at-grimmwald does not fit into "),
        ("--runs 0", "--runs: expected more than 0, found 0")],
    "agents.distil": [
        ("--quick --first -1", "--first: expected 0 or more, found -1"),
        ("--quick --start-from none.npz", "--start-from: none.npz: expected a saved network")],
    "agents.hidden": [
        ("--scenario archmage-duel", "expected hidden items"),
        ("--gap 0", "--gap: expected more than 0, found 0.0")],
    "agents.imitate": [
        ("--dataset wfb_gym/nothing-v0", "found no wfb_gym/nothing-v0"),
        ("--epochs 0", "--epochs: expected more than 0"),
        ("--held-out 1", "--held-out: expected a share")],
    "agents.openspiel": [("--scenario dawn-at-grimmwald", "dawn-at-grimmwald does not fit into ")],
    "agents.ppo_device": [
        ("--device cpu --width 0", "--width: expected more than 0"),
        ("--device tpu", "--device: expected cuda, cuda:1 and so on or cpu, found tpu"),
        ("--device cpu --bfloat16", "--bfloat16: expected --device cuda, found cpu"),
        ("--device cpu --opponent mcts", "--opponent: expected names of scripted players"),
        ("--device cpu --gae-lambda nan", "--gae-lambda: expected 0.0 to 1.0, found nan"),
        ("--device cpu --resume --out nowhere", "there is no checkpoint in nowhere"),
        ("--device cpu --scenario generated-phase:test", "is for tests, train on generated-phase")],
    "agents.record": [
        ("--opponent nosuch", "agent: expected"), ("--battles 0", "--battles: expected 1 or more"),
        ("--epsilon 1.5", "--epsilon: expected a probability"),
        ("--name 'no version'", "expected a name like"),
        ("--out nowhere/a.json", "--out: expected an existing folder")],
    "agents.search": [
        ("no.toml", "no.toml: expected a file of settings, found No such file or directory")],
    "agents.train": [
        ("--scenario archmage-dual", "scenario: expected"),
        ("--scenario missing.toml", "missing.toml: expected a scenario file"),
        ("--opponent missing.zip", "missing.zip: expected a saved model"),
        ("--load missing.zip", "missing.zip: expected a saved model, found no file"),
        ("--steps 0", "expected a whole number from 1"),
        ("--gae-lambda 2", "gae_lambda: expected 0 to 1"),
        ("--scenario generated:test", "train on generated")],
    "agents.train_fast": [
        ("--width 0", "--width: expected more than 0"),
        ("--num-envs 9", "--num-envs: expected a multiple of 2 workers"),
        ("--resume --out nowhere", "there is no checkpoint in nowhere"),
        ("--scenario generated-phase:test", "is for tests, train on generated-phase"),
        ("--gae-lambda nan", "--gae-lambda: expected 0.0 to 1.0, found nan"),
        ("--history", "--history: expected --exploring-starts 0, as stored"),
        ("--entropy -0.1", "--entropy-coefficient: expected from 0.0, found -0.1")],
}  # fmt: skip
"""Arguments by script, each with a part of the message."""


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{module} {arguments}", message)
        for module, rows in REJECTED.items()
        for arguments, message in rows
    ],
)
def test_wrong_arguments_end_in_one_line(
    command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    if command.startswith(("agents.imitate", "agents.record")):
        pytest.importorskip("minari")
        pytest.importorskip("h5py")
    assert message in scripts.error(command)
    assert [*work.iterdir()] == []
