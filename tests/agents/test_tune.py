"""The search for hyperparameters, tiny."""

import json
from pathlib import Path

import pytest

from agents import tune
from agents.training import search
from agents.training.search import Search, planned, read, settings
from agents.training.settings import class_of, suited


def test_a_quick_search_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["--quick", "--json", "--out", str(tmp_path)]
    assert tune.main(asked) == 0
    results = json.loads(capsys.readouterr().out)
    assert results == json.loads((tmp_path / "tune.json").read_text())
    rungs = [row["rung"] for row in results["ranked"]]
    assert rungs == [1, 0, 0, 0]
    best, *first = results["ranked"]
    assert best["number"] == first[0]["number"]
    assert best["hyper"]["steps"] == 3 * first[0]["hyper"]["steps"]
    assert (tmp_path / "tune.png").read_bytes().startswith(b"\x89PNG")
    log = tmp_path / "trials.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])  # killed while it wrote
    trained = []
    scored = search.scored

    def counted(*arguments):  # type: ignore[no-untyped-def] # noqa: ANN002, ANN202
        trained.append(arguments[0].key)
        return scored(*arguments)

    monkeypatch.setattr(search, "scored", counted)
    assert tune.main(asked) == 0
    again = json.loads(capsys.readouterr().out)
    assert len(trained) == 1
    assert [row["score"] for row in again["ranked"]] == [row["score"] for row in results["ranked"]]
    assert len(read(log)) == 4
    assert tune.main([*asked, "--seed", "1"]) == 2
    assert "of another search" in capsys.readouterr().err


def test_the_first_settings_are_the_file_s_and_the_rest_differ() -> None:
    args = Search(trials=6)
    first, *others = settings(args)
    usual = suited(class_of(args.scenario, args.seat), args.seat)
    assert {**vars(first), "steps": 0} == {**vars(usual), "steps": 0}
    assert len({str(hyper) for hyper in others}) == 5
    assert settings(args) == [first, *others]
    assert settings(Search(trials=6, seed=1))[1:] != others


def test_trainings_of_a_search_are_counted() -> None:
    assert planned(Search(trials=12, seeds=2)) == 2 * (12 + 4 + 1)
    assert planned(Search(trials=1, seeds=1)) == 1
