"""Solutions on disk: written completely or not at all, read completely or rejected, solved once."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.test_files import archive_of, npy
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import SolutionError, game_graph, solving
from wfb_gym.solver.game_graph import GameGraph, SavedGraph
from wfb_gym.solver.solution import packed_digest

from .small import small, solved, start
from .test_game_graph import same

NAME = "a duel"
DAMAGED = "damaged or unsupported"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "duel.zip"
    solved(NAME).save(path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, **changed: bytes | None) -> None:
    """Write an archive again with some members changed or, for None, removed."""
    held = {name: changed.get(name.partition(".")[0], data) for name, data in members(path).items()}
    archive_of(path, {name: data for name, data in held.items() if data is not None})


def with_header(path: Path, **changed: Any) -> None:
    header = {**json.loads(members(path)["header.json"]), **changed}
    kept = {key: value for key, value in header.items() if value is not ...}
    rewrite(path, header=json.dumps(kept).encode())


def array_of(path: Path, name: str) -> Any:
    return np.lib.format.read_array(io.BytesIO(members(path)[f"{name}.npy"]))


def assert_rejected(path: Path, message: str | None = None) -> None:
    """Assert that a file is rejected with a short message."""
    with pytest.raises(SolutionError, match=message) as caught:
        solver.load(path)
    assert len(str(caught.value)) < 1000


def is_duel(read: solver.Solution) -> bool:
    """Return whether the graph equals the graph of the saved duel, bit for bit."""
    return same(read.graph, solved(NAME).graph)


@pytest.mark.parametrize("name", [NAME, "three phases with locks"])
def test_a_solution_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.zip"
    path.write_bytes(b"something else")
    written = solved(name)
    with path.open("rb") as old:  # a reader of the old file can still read all of it
        solver.save(written, str(path))
        assert old.read() == b"something else"
    assert [each.name for each in tmp_path.iterdir()] == ["deep.zip"]
    read = solver.load(str(path))
    assert same(read.graph, written.graph)
    assert read.packed.tobytes() == written.packed.tobytes()
    for field in ("value", "states", "seconds", "scenario"):
        assert getattr(read, field) == getattr(written, field)
    battle, twin = start(small(name)), Battle(read.packed)
    assert read.action_values(twin) == written.action_values(battle)
    assert read.best_action(twin) == written.best_action(battle)
    assert solver.exploitability(read, "optimal", "optimal") == pytest.approx(0.0, abs=1e-9)
    twin.state.power = 9  # an unreachable position, which is stored too
    twin.state.wounds[0, 0] = 5
    value = read.value_of(twin)
    read.save(path)
    assert solver.load(path).value_of(twin) == value


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected a saved solution"):
        solver.load(tmp_path / "nothing.zip")
    with pytest.raises(FileNotFoundError):
        solver.load(tmp_path)
    with pytest.raises(OSError, match="no-such-folder"):
        solved(NAME).save(tmp_path / "no-such-folder" / "one.zip")


def test_other_and_incomplete_files_are_rejected(saved: Path) -> None:
    whole = saved.read_bytes()
    for header in (b"[]", b"null", b'{"format": "else"}', b"{", b"\xff"):
        rewrite(saved, header=header)
        assert_rejected(saved)
    archive_of(saved, {"policy.pth": b"weights"})
    assert_rejected(saved, DAMAGED)
    cut = [whole[: int(share * len(whole))] for share in (0.0, 0.001, 0.3, 0.7, 0.99, 0.999)]
    for content in (b"no archive at all", b"PK\x05\x06" + bytes(18), *cut):
        saved.write_bytes(content)
        assert_rejected(saved, DAMAGED)


@pytest.mark.parametrize(
    ("every_byte", "every_bit"), [(71, 11), pytest.param(1, 1, marks=pytest.mark.slow)]
)
def test_a_flipped_bit_is_detected(saved: Path, every_byte: int, every_bit: int) -> None:
    """The solution is rejected or unchanged.

    The list of members may ask for a password, or name an unknown compression.
    """
    data = bytearray(saved.read_bytes())
    members_from = 8 * data.index(b"PK\x01\x02")
    bits = [8 * place + place % 8 for place in range(0, len(data), every_byte)]
    of_members = range(members_from, members_from + 8 * 46, every_bit)
    refused = 0
    for bit in (*bits, *of_members):
        data[bit // 8] ^= 1 << bit % 8
        saved.write_bytes(data)
        try:
            read = solver.load(saved)
        except SolutionError:
            refused += 1
        else:
            assert is_duel(read), bit
            assert read.scenario == solved(NAME).scenario
        data[bit // 8] ^= 1 << bit % 8
    assert refused > 0.6 * len(bits)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "wfb_gym replay"}, "expected a solution"),
        ({"version": 0}, "expected format version 1, found 0"),
        ({"version": "9" * 100_000}, 'expected format version 1, found "999'),
        ({"version": "\x1b[2J"}, r'expected format version 1, found "\?\[2J"; solve'),
        *(({key: ...}, DAMAGED) for key in ("version", "rules", "table", "scenario", "seconds")),
        ({"rules": "0123"}, "other rules"),
        ({"table": "0123"}, "other data"),
        ({"scenario": "{}"}, DAMAGED),
        ({"scenario": 5}, DAMAGED),
        ({"scenario": '{"name": ' + "[" * 14 + "]" * 14 + "}"}, "lists at most 12 deep"),
        ({"seconds": "long"}, DAMAGED),
        ({"seconds": float("nan")}, "seconds: expected a number from 0, found nan"),
        ({"seconds": -1.0}, "seconds: expected a number from 0, found -1.0"),
    ],
)
def test_solutions_of_other_rules_or_incomplete_ones_are_rejected(
    saved: Path, changed: dict[str, Any], message: str
) -> None:
    with_header(saved, **changed)
    assert_rejected(saved, message)


def test_solving_may_have_taken_no_time(saved: Path) -> None:
    with_header(saved, seconds=0.0)
    assert solver.load(saved).seconds == 0.0


@pytest.mark.parametrize("name", SavedGraph._fields)
def test_arrays_that_do_not_fit_together_are_rejected(saved: Path, name: str) -> None:
    whole = saved.read_bytes()
    array = array_of(saved, name)
    objects = npy(np.array([{}, {}]))  # pickled, and never unpacked
    wrong = [None, b"", npy(array)[:-1], npy(np.zeros((2, 2, 2), array.dtype)), objects]
    if name not in ("merging", "origin", "moves"):
        wrong.append(npy(array.astype(np.float32)))
    if array.ndim:
        wrong += [npy(array[:-1]), npy(np.concatenate([array, array[-1:]]))]
    for data in wrong:
        rewrite(saved, **{name: data})
        assert_rejected(saved)
        saved.write_bytes(whole)
    assert is_duel(solver.load(saved))


def _crafted(path: Path) -> list[tuple[str, Any]]:
    """Return arrays of the right kinds with impossible contents."""
    arrays = {name: array_of(path, name) for name in SavedGraph._fields}
    found: list[tuple[str, Any]] = []

    def change(name: str, place: Any, value: Any) -> None:
        array = arrays[name].copy()
        array[place] = value
        found.append((name, array))

    decision = int(np.flatnonzero(arrays["kinds"] == 0)[0])
    for value in (np.nan, np.inf, -np.inf):
        change("values", -1, value)
    for action in (-1, 32767, -32768, 200, 40):
        change("chosen", decision, action)
    for count in (-1, 0, 32767, arrays["counts"][decision] + 1):
        change("counts", decision, count)
    for kind in (1, 2, -1, 100):
        change("kinds", decision, kind)
    for end in (0, -1):
        change("counts", end, arrays["counts"][end] + 1)
    change("keys", 1, arrays["keys"][0])
    change("keys", decision, np.uint64(2**64 - 1))
    change("keys", slice(None), 0)
    change("origin", slice(None), np.uint64(2**64 - 1))
    change("moves", slice(None), np.uint64(0x5555_5555_5555_5555))
    change("moves", slice(None), 0)
    found.append(("merging", np.array(3)))
    return found


def test_impossible_contents_are_rejected(saved: Path) -> None:
    whole = saved.read_bytes()
    for name, array in _crafted(saved):
        rewrite(saved, **{name: npy(array)})
        assert_rejected(saved, f"^{saved}: expected a solution")
        saved.write_bytes(whole)
    assert is_duel(solver.load(saved))


def test_contents_at_random_are_rejected_or_harmless(saved: Path) -> None:
    whole, rng = saved.read_bytes(), np.random.default_rng(3)
    refused = 0
    for _ in range(40):
        name = str(rng.choice(SavedGraph._fields[1:]))
        array = array_of(saved, name).copy()
        flat = array.reshape(-1).view(np.uint8)
        flat[rng.integers(flat.size)] ^= np.uint8(1 << rng.integers(8))
        rewrite(saved, **{name: npy(array)})
        try:
            read = solver.load(saved)
        except SolutionError:
            refused += 1
        else:
            battle = Battle(read.packed)
            while not battle.is_over:
                if battle.is_chance():
                    battle.resolve(battle.chance_outcomes()[0][0])
                else:
                    battle.act(read.best_action(battle))
        saved.write_bytes(whole)
    assert refused > 13


def test_archives_with_more_than_a_solution_are_rejected(saved: Path) -> None:
    size = sum(len(member) for member in members(saved).values())
    assert is_duel(solver.load(saved, max_bytes=size))
    with pytest.raises(SolutionError, match=f"unpacks to {size:,} bytes, expected at most"):
        solver.load(saved, max_bytes=size - 1)
    whole = members(saved)
    for changed, message in (
        ({"values.npy": npy(np.zeros(2**22))}, r"unpacks to .*, expected at most 16,777,216"),
        ({"header.json": b"[" * 12_000_000}, "header.json: expected at most 1,048,576 bytes"),
        ({"more.npy": b""}, r"expected 9 members, found 10: .* .'more.npy'"),
    ):
        archive_of(saved, whole | changed)
        assert saved.stat().st_size < 2**20
        assert_rejected(saved, message)


def test_nodes_of_one_key_are_rejected_before_they_are_indexed(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexing takes time by the square of their number."""
    many = {
        name: npy(np.repeat(array_of(saved, name)[:1], 300_000, axis=0))
        for name in ("keys", "kinds", "counts", "values", "chosen")
    }
    keys = array_of(saved, "keys")
    keys[5] = keys[2]
    monkeypatch.setattr(GameGraph, "_fill_index", None)
    for changed, node in ({"keys": npy(keys)}, 5), (many, 1):
        rewrite(saved, **changed)
        assert_rejected(saved, f"node {node}: expected a unique key, found a duplicate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for solutions."""
    monkeypatch.setattr(solving, "CACHE_FOLDER", tmp_path)
    return tmp_path / "solutions"


def test_stored_solutions_are_not_solved_again(folder: Path) -> None:
    reported: list[int] = []
    first = solver.solve("archmage-duel", progress=reported.append, cache=True)
    assert reported
    digest = packed_digest(pack(load_scenario("archmage-duel")))
    assert [each.name for each in folder.iterdir()] == [f"{digest}.zip"]
    reported.clear()
    again = solver.solve("archmage-duel", progress=reported.append, cache=True)
    assert not reported
    assert same(again.graph, first.graph)
    assert again.value == first.value
    assert 0.0 < again.seconds <= first.seconds
    assert solver.solve("apprentice", cache=True).value != first.value
    assert len(list(folder.iterdir())) == 2


def test_an_interrupted_solution_is_stored_and_resumes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_graph, "_SLICE", 100)

    def stop(nodes: int) -> None:
        if nodes >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver.solve("archmage-duel", progress=stop, cache=True)
    (path,) = folder.iterdir()
    kept = solver.load(path)
    assert 1000 <= kept.graph.size < 1500
    with_header(path, seconds=1000.0)
    reported: list[int] = []
    whole = solver.solve("archmage-duel", progress=reported.append, cache=True)
    assert reported[0] >= kept.graph.size
    fresh = solver.solve("archmage-duel")
    assert (whole.value, whole.states) == (fresh.value, fresh.states)
    assert whole.value == pytest.approx(9.679397618926652, abs=1e-9)
    assert whole.seconds > 1000.0
    again = solver.load(path)
    assert (again.value, again.seconds) == (whole.value, whole.seconds)


def test_long_solving_is_stored_at_intervals(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_graph, "_SLICE", 100)
    monkeypatch.setattr(solving, "_SAVE_EVERY", -1.0)
    monkeypatch.setattr(solving, "_NOTICE_EVERY", -1.0)
    sizes: list[int] = []

    def look(nodes: int) -> None:
        if folder.exists():
            sizes.append(solver.load(next(folder.iterdir())).graph.size)

    notice = io.StringIO()
    solver.solve("orc-shaman-hunt", progress=look, notice=notice, cache=True)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert "solving orc-shaman-hunt" in notice.getvalue()


def test_a_rejected_file_is_solved_and_written_again(folder: Path) -> None:
    first = solver.solve("apprentice", cache=True)
    (path,) = folder.iterdir()
    damages: list[Callable[[], Any]] = [
        lambda: path.write_bytes(b"garbage"),
        lambda: with_header(path, rules="other"),
        lambda: rewrite(path, values=npy(np.zeros(3))),
        lambda: solver.solve("orc-shaman-hunt").save(path),
    ]
    for damage in damages:
        damage()
        again = solver.solve("apprentice", cache=True)
        assert again.scenario == first.scenario
        assert again.value == first.value
        assert same(solver.load(path).graph, first.graph)


def test_too_large_games_are_not_stored(folder: Path) -> None:
    with pytest.raises(solver.TooLarge):
        solver.solve("archmage-duel", max_bytes=160_000, cache=True)
    assert not folder.exists() or not list(folder.iterdir())


def test_a_read_only_folder_does_not_matter(folder: Path) -> None:
    folder.write_text("a file in the way")
    assert solver.solve("apprentice", cache=True).value == solver.solve("apprentice").value
