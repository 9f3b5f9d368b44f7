"""Documents and files that are too large, too deep or not valid documents."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scenario.mutants import mutant
from tests.support.scripts import run_python
from wfb_gym.scenario import ScenarioError, load_scenario, scenario_from_dict
from wfb_gym.scenario.document_limits import MAX_BYTES, MAX_DEPTH, MAX_ENTRIES, MAX_KEY, MAX_VALUES
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.errors import MAX_PROBLEMS

HEAD = 'name = "x"\n[caster]\n[dispeller]\n'
MUTANTS = 100
MEMORY = 200 * 2**20

TEXTS = {
    "a million spells": "[[caster.wizards]]\nspells = [" + "{}," * 1_000_000 + "]",
    "keys of 128 KB": HEAD + "".join(f"k{i} = 1\n" for i in range(12_000)),
    "a dotted key": "a." * 20_000 + "a = 1",
    "a dotted header": "[" + "a." * 20_000 + "a]",
    "many dotted headers": "".join(f"[{f'k{i}.' * 10}a]\n" for i in range(3_000)),
    "lists": "a = " + "[" * 2_000 + "]" * 2_000,
    "tables": "a = " + "{a = " * 2_000 + "1" + "}" * 2_000,
    "digits": f"phases = {'9' * 5_000}",
    "hexadecimal digits": f"phases = 0x{'f' * 100_000}",
    "an open text": '"""' + '\\"""' * 30_000,
    "empty": "",
    "one name": f'name = "{"x" * 100_000}"\n[caster]\n[dispeller]\n',
}

LISTS: dict[str, Any] = {
    "a long list": [0] * 1_000_000,
    "a long table": {f"k{i}": 0 for i in range(1_000_000)},
    "many values": [[[0] * 100] * 100] * 100,
    "a generator": (i for i in range(10)),
    "a set": {1, 2},
    "an array": np.zeros(3),
    "bytes": b"x",
    "half a character": "\ud800",
    "nothing": None,
    "a large number": 10**5000,
    "a key that is no text": {1: 2},
    "a key with half a character": {"\ud800": 2},
    "a key with a control character": {"\x1b[31m": 2},
    "a long key": {"k" * (MAX_KEY + 1): 2},
}

_MEASURED = """
import resource, sys
from tests.scenario import test_limits as limits
from wfb_gym.scenario import ScenarioError, load_scenario
load_scenario("the-winds-unbound")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, text in limits.TEXTS.items():
    assert isinstance(limits.refused(limits.load_text, text), ScenarioError), name
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024)
"""


def load_text(text: str) -> object:
    return scenario_from_dict(parse_toml(text, "x.toml"), "x.toml")


def refused(load: Callable[[Any], object], document: Any) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        load(document)
    text = str(caught.value)
    assert len(text) < 25_000
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(text.split("\n")) <= MAX_PROBLEMS + 1
    return caught.value


@pytest.mark.parametrize("name", TEXTS)
def test_other_texts_than_scenarios_are_rejected(name: str) -> None:
    refused(load_text, TEXTS[name])


def test_refusing_texts_takes_little_memory() -> None:
    done = run_python("-c", _MEASURED)
    assert done.status == 0, done.err
    assert int(done.out) < MEMORY


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("key", ["phases", "items", "no_such_key"])
def test_values_from_python_that_toml_cannot_hold_are_rejected(name: str, key: str) -> None:
    document = {"name": "x", "caster": {}, "dispeller": {}, key: LISTS[name]}
    if LISTS[name] is not None or key != "items":
        refused(scenario_from_dict, document)
    refused(scenario_from_dict, {**document, key: {}, "caster": {"units": [{key: LISTS[name]}]}})


def test_cyclic_documents_are_rejected() -> None:
    table: dict[str, Any] = {"name": "x"}
    table["caster"] = table["dispeller"] = table
    assert f"at most {MAX_DEPTH} deep" in str(refused(scenario_from_dict, table))
    entries: list[Any] = []
    entries += [entries] * 100
    assert "at most" in str(refused(scenario_from_dict, {"items": entries}))


@pytest.mark.parametrize("document", [None, "x", []])
def test_only_a_table_is_a_document(document: Any) -> None:
    assert "expected a table" in str(refused(scenario_from_dict, document))


def test_a_document_has_a_limited_number_of_values() -> None:
    many = [[0] * MAX_ENTRIES] * (MAX_VALUES // MAX_ENTRIES)
    document = {"name": "x", "caster": {"items": many}, "dispeller": {}}
    assert str(refused(scenario_from_dict, document)) == (
        f"scenario: expected at most {MAX_VALUES:,} values in all, found more"
    )


@pytest.mark.parametrize("entry", ["x = " + "[" * MAX_DEPTH, ".".join("x" * MAX_DEPTH) + ".x = 1"])
def test_too_many_brackets_or_parts_of_a_key_are_rejected_unparsed(entry: str) -> None:
    assert str(refused(load_text, f"{HEAD}\n{entry}")) == (
        f"x.toml: expected tables and lists at most {MAX_DEPTH} deep, found more at line 5"
    )


def test_depth_is_counted_by_brackets_and_dots_only() -> None:
    deep = "[" * MAX_DEPTH
    harmless = f'# {deep}\ndescription = "{deep}{"." * 50}"\n'
    lines = f"'{deep}'  # {deep}", f'"""\n{deep}\\"""\n{deep}"""""'
    for line in lines:
        refused(load_text, f"{HEAD}x = {line}")  # only for the key x
        assert "deep" not in str(refused(load_text, f"{HEAD}x = {line}"))
    assert load_text(harmless + HEAD)


def test_errors_list_some_problems_and_count_the_others() -> None:
    wizards = [{"name": f"A{i}", "level": 9} for i in range(MAX_PROBLEMS + 5)]
    document = {"name": "x", "caster": {"wizards": wizards}, "dispeller": {}}
    error = refused(scenario_from_dict, document)
    assert (len(error.problems), error.more) == (MAX_PROBLEMS, 5)
    assert str(error).split("\n")[-1] == "scenario: and 5 more"
    units = [{"name": "A", "models": 1, "toughness": 3, "points": 1} for _ in range(10)]
    heroes = [{"name": "A"} for _ in range(100)]
    document = {"name": "x", "caster": {"units": units, "heroes": heroes}, "dispeller": {}}
    error = refused(scenario_from_dict, document)  # the problems of one check
    assert (len(error.problems), error.more) == (MAX_PROBLEMS, 110 - MAX_PROBLEMS)


def test_marks_of_editors_and_line_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    for content in (b"\xef\xbb\xbf" + HEAD.encode(), HEAD.replace("\n", "\r\n").encode()):
        file.write_bytes(content)
        assert load_scenario(file).name == "x"
    for content in (HEAD.encode("utf-16"), HEAD.encode("utf-16-le"), HEAD.encode("utf-32"), b""):
        file.write_bytes(content)
        refused(load_scenario, file)


def test_files_are_read_up_to_their_limit(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(HEAD + "#" * (MAX_BYTES - len(HEAD)))
    assert load_scenario(file).name == "x"
    file.write_text(HEAD + "#" * (MAX_BYTES - len(HEAD) + 1))
    assert str(refused(load_scenario, file)) == (
        f"{file}: expected a scenario file, found more than {MAX_BYTES:,} bytes"
    )


def test_other_paths_than_files_are_rejected(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for path, found in (
        (pipe, "neither a file nor a folder"),
        (Path("/dev/zero"), "neither a file nor a folder"),
        (Path("/dev/null"), "neither a file nor a folder"),
        (tmp_path, "a folder"),
        ("a\0b.toml", "embedded null"),
        (Path("x" * 500), "File name too long"),
        ("\ud800.toml", ""),
        (tmp_path / "a\x1b[31m\nb.toml", "No such file"),
    ):
        said = str(refused(load_scenario, path))
        assert "expected a scenario file, found " in said
        assert found in said  # Python 3.13 puts "stat: " before some


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser reads all")
def test_files_that_cannot_be_read_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(HEAD)
    file.chmod(0)
    assert "Permission denied" in str(refused(load_scenario, file))


def test_damaged_documents_load_or_are_rejected() -> None:
    rng, same = np.random.default_rng(14), np.random.default_rng(14)
    refusals = 0
    for _ in range(MUTANTS):
        document, again = mutant(rng), mutant(same)
        assert repr(again) == repr(document)
        load: Any = load_text if isinstance(document, str) else scenario_from_dict
        try:
            load(document)
        except ScenarioError:
            refusals += 1
            refused(load, document)
    assert MUTANTS // 2 < refusals < MUTANTS
