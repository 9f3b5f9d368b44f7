"""An interrupted experiment resumes: the function measures no part twice, and the results are the
same."""

from pathlib import Path
from typing import Any

import pytest

from experiments import horizon, optimality_gap, strength, value_of_hiding, value_of_history
from experiments.common import INTERRUPTED
from experiments.tournaments import running
from tests.support.scripts import Scripts, interrupt_call, results_in, without_times

PLAYERS = "veteran random --scenario apprentice --battles 4"
STRENGTH = "veteran greedy --pool greedy --scenario border-skirmish --battles 8"
BATTLE = "--battle border-skirmish --opponent greedy --phases 2 --battles 2"
RUNS = [
    (f"experiments.horizon --scenario apprentice:2 {BATTLE}", horizon, "battle_parts"),
    ("experiments.optimality_gap --quick", optimality_gap, "measure_gap"),
    (f"experiments.strength {STRENGTH}", strength, "play_match"),
    (f"experiments.tournament {PLAYERS}", running, "play_match"),
    ("experiments.value_of_hiding --quick", value_of_hiding, "HiddenGame"),
    ("experiments.value_of_history --quick", value_of_history, "HiddenGame"),
]
"""Commands, each with the module and the name of a function that measures a part."""


@pytest.mark.parametrize(("command", "module", "function"), RUNS)
def test_an_interrupted_run_resumes(
    command: str,
    module: Any,
    function: str,
    tmp_path: Path,
    scripts: Scripts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    with monkeypatch.context() as patch:
        calls = interrupt_call(patch, module, function, number=0)
        scripts.run(f"{command} --out {whole}")
    measured = len(calls)
    with monkeypatch.context() as patch:
        calls = interrupt_call(patch, module, function, number=measured)
        scripts.run(f"{command} --out {part}", INTERRUPTED)
        for record in part.glob("*.jsonl"):  # interrupted as if by a power cut
            record.write_bytes(record.read_bytes() + b'{"cell": {"scena')
        for _ in range(2):  # the second run finds all parts
            scripts.run(f"{command} --out {part}")
    assert len(calls) == measured + 1
    found, expected = (without_times(results_in(folder)) for folder in (part, whole))
    for results in (found, expected):
        results["args"].pop("out", None)
    assert found == expected
