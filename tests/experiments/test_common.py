"""Functions shared by all commands: folders of quick runs, tables, progress."""

import io
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from agents import distil, imitate, train, train_fast
from agents.self_play import runs
from experiments import common
from experiments import progress as display
from experiments.progress import progress, report_progress
from experiments.tables import print_results, text_table
from tests.support.playing import lowest
from wfb_gym import _progress
from wfb_gym.players.registry import make_agent


@pytest.mark.parametrize(
    ("module", "runner"), [(train, train), (train_fast, runs), (distil, distil), (imitate, imitate)]
)
def test_a_quick_run_does_not_touch_the_folder_of_a_full_run(
    module: Any, runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []
    monkeypatch.setattr(runner, "run_command", lambda name, folder, work: folders.append(folder))
    for line in ([], ["--quick"], ["--quick", "--out", "elsewhere"]):
        module.main(line)
    usual, quick, given = folders
    assert (quick.parent, given) == (usual.parent, Path("elsewhere"))
    assert quick.name.endswith("-quick")
    assert not usual.name.endswith("-quick")


def test_output_into_a_pipe_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{letter}-long-scenario-name-of-a-file" for letter in "abcde"]
    print_results({}, [text_table([names, names], "names")], as_json=False)
    with progress() as bar:
        bar.add_task(" ".join(names), total=1, note="")
    printed = capsys.readouterr()
    assert all(printed.out.count(each) == 2 for each in names)
    assert " ".join(names) in printed.err


def test_progress_into_a_file_is_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_LINE", "NEXT_LINES"):
        monkeypatch.setattr(_progress, name, 0.01)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    wanted = "wfb_gym: grading, 25 %, duel: asking the caster: 7 of 9 ("
    end = time.monotonic() + 60.0
    with report_progress("grading", 4) as report:
        report("duel", 1)
        _progress.tell("asking the caster: 7 of 9")
        while wanted not in out.getvalue():
            assert time.monotonic() < end, out.getvalue()
            time.sleep(0.01)


def test_progress_of_the_solver_follows_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress() as bar:
        task = bar.add_task("grading", total=4)
        bar.reset(task, description="grading", note="")  # the description replaces all fields
        _progress.tell("solving my [/duel]: 7 of 9")
        assert bar.tasks[0].fields["detail"] == "solving my [/duel]: 7 of 9"
        assert display._DetailColumn().render(bar.tasks[0]).plain == "solving my [/duel]: 7 of 9"
        bar.refresh()
        _progress.tell("")
        assert bar.tasks[0].fields["detail"] == ""
    _progress.tell("no bar")
    assert bar.tasks[0].fields["detail"] == ""


def test_a_player_is_a_name_an_agent_or_a_function() -> None:
    def points(player: Any, seat: str = "caster") -> list[float]:
        keys: dict[str, Any] = {"scenario": "apprentice", "opponent": "greedy", "battles": 4}
        return list(common.play_battles(player, seat=seat, seed=1, **keys))

    assert points("veteran") == points(make_agent("veteran"))
    scripted = points(lowest)
    assert scripted == points(SimpleNamespace(act=lowest))
    assert scripted != points("veteran")
    with pytest.raises(ValueError, match=r"player: .* found the PyTorch module"):
        points(torch.nn.Linear(1, 1))
    with pytest.raises(ValueError, match="expected one of random"):
        points("veterann")
    with pytest.raises(ValueError, match="seat: expected one of caster, dispeller, found 'mage'"):
        points("veteran", "mage")


def test_progress_inside_of_progress_has_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with report_progress("outer", 2) as outer:
        with progress() as inner:
            inner.add_task("inner", total=1)
            assert inner.console is display.Display._shown_now[0].console
        outer("next", 1)
    with progress() as later:
        assert display.Display._shown_now == [later]
    assert display.Display._shown_now == []
