"""Steps of an addition that no other test checks: `CONTRIBUTING.md` lists them.

The tests compile nothing; `test_members` plays every item, spell and miscast effect.
"""

import ast
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.support.pages import PACKAGE, ROOT
from wfb_gym._records import Record
from wfb_gym.packing import records

LEARNERS = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "agents").rglob("*.py")
    if not path.name.startswith("test_") and "__main__" in path.read_text(encoding="utf-8")
)
"""Scripts of `agents/`."""
UNREAD = {
    "PackedArmy.n_points": "an observation is sized by it",
    "PackedScenario.deals": "an observation is sized by it, and planners are shown less",
    "PackedScenario.in_play_recast_side": "an observation shows it; `barred_by` plays it",
    "PackedScenario.n_miscast_rows": "totals name their row",
    "PackedScenario.n_miscast_tables": "wizards name their table",
    "PackedSpell.reserved": "keeps the digests of packed scenarios",
}
"""Packed fields that no rule of the engine reads, with the reason."""


def test_the_engine_reads_every_packed_field() -> None:
    """A packed field that no rule reads has no effect."""
    packed = {
        f"{record.__name__}.{field}"
        for record in vars(records).values()
        if isinstance(record, type) and issubclass(record, Record) and record is not Record
        for field in record.__annotations__
    }
    read = {
        node.attr
        for path in (PACKAGE / "engine").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert {name for name in packed if name.partition(".")[2] not in read} == set(UNREAD)


def test_every_learner_documents_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for script in LEARNERS:
        if "rllib" in script.parts and find_spec("ray") is None:
            continue
        main = import_module(".".join(script.with_suffix("").parts)).main
        with pytest.raises(SystemExit) as ended:
            main(["--help"])
        assert ended.value.code == 0
        shown = capsys.readouterr().out
        for flag in ("--quick", "--json", "--seed", "--out"):
            assert flag in shown, f"{script}: no {flag}"
