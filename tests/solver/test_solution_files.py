"""Solutions on disk: written completely or not at all, read completely or rejected, solved once."""

import contextlib
import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
DEEP: Any = [[[[[[[[[[[[[[]]]]]]]]]]]]]]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "duel.zip"
    solved(NAME).save(path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_archive(path: Path, held: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            archive.writestr(name, data)


def rewrite(path: Path, **changed: bytes | None) -> None:
    """Write an archive again with some members changed or, for None, removed."""
    held = {name: changed.get(name.partition(".")[0], data) for name, data in members(path).items()}
    write_archive(path, {name: data for name, data in held.items() if data is not None})


def with_header(path: Path, **changed: Any) -> None:
    header = {**json.loads(members(path)["header.json"]), **changed}
    kept = {key: value for key, value in header.items() if value is not ...}
    rewrite(path, header=json.dumps(kept).encode())


def npy(array: Any) -> bytes:
    written = io.BytesIO()
    np.lib.format.write_array(written, np.asarray(array), allow_pickle=False)
    return written.getvalue()


def pickled() -> bytes:
    """Return an array of objects, which is never unpacked."""
    written = io.BytesIO()
    np.lib.format.write_array(written, np.array([{}, {}]), allow_pickle=True)
    return written.getvalue()


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


@pytest.mark.parametrize("name", [NAME, "several wizards", "three phases with locks"])
def test_a_solution_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.zip"
    written = solved(name)
    written.save(path)
    read = solver.load(path)
    assert same(read.graph, written.graph)
    assert read.packed.tobytes() == written.packed.tobytes()
    assert (read.value, read.states, read.seconds) == (
        written.value, written.states, written.seconds,
    )  # fmt: skip
    assert read.scenario == written.scenario
    battle, twin = start(small(name)), Battle(read.packed)
    assert read.action_values(twin) == written.action_values(battle)
    assert read.best_action(twin) == written.best_action(battle)
    assert read.policy(1).size == written.policy(1).size
    assert solver.exploitability(read, "optimal", "optimal") == pytest.approx(0.0, abs=1e-9)
    twin.state.power = 9  # an unreachable position
    assert np.isfinite(read.value_of(twin))


def test_a_file_may_be_given_as_text_and_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    path.write_bytes(b"something else")
    with path.open("rb") as old:  # a reader of the old file can still read all of it
        solver.save(solved(NAME), str(path))
        assert old.read() == b"something else"
    assert is_duel(solver.load(str(path)))
    assert [each.name for each in tmp_path.iterdir()] == ["one.zip"]


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected a saved solution"):
        solver.load(tmp_path / "nothing.zip")
    with pytest.raises(FileNotFoundError):
        solver.load(tmp_path)
    with pytest.raises(OSError, match="no-such-folder"):
        solved(NAME).save(tmp_path / "no-such-folder" / "one.zip")


def test_a_file_that_cannot_be_finished_leaves_the_old_one(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    written = np.lib.format.write_array

    def full(member: Any, array: Any, **keys: Any) -> None:
        if len(array.shape) > 1:
            raise OSError("no space left")
        written(member, array, **keys)

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="no space left"):
        solved("two phases").save(saved)
    assert saved.read_bytes() == before
    assert [each.name for each in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize("content", [b"no archive at all", b"PK\x05\x06" + bytes(18)])
def test_other_files_are_rejected(saved: Path, content: bytes) -> None:
    saved.write_bytes(content)
    assert_rejected(saved, "damaged or unsupported")


def test_other_archives_are_rejected(saved: Path) -> None:
    write_archive(saved, {"policy.pth": b"weights"})
    assert_rejected(saved, "damaged or unsupported")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.99, 0.999])
def test_a_file_cut_short_is_rejected(saved: Path, share: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    assert_rejected(saved, "damaged or unsupported")


@pytest.mark.parametrize("every", [71, pytest.param(1, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_detected(saved: Path, every: int) -> None:
    """The solution is rejected or unchanged."""
    data = bytearray(saved.read_bytes())
    refused = 0
    for place in range(0, len(data), every):
        mask = 1 << (place % 8)
        data[place] ^= mask
        saved.write_bytes(data)
        try:
            read = solver.load(saved)
        except SolutionError:
            refused += 1
        else:
            assert is_duel(read), place
            assert read.scenario == solved(NAME).scenario
        data[place] ^= mask
    assert refused * every / len(data) > 0.6


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_a_flipped_bit_of_the_list_of_members_is_detected(saved: Path, every: int) -> None:
    """It may ask for a password, or name an unknown compression."""
    data = bytearray(saved.read_bytes())
    entry = data.index(b"PK\x01\x02")
    for place in range(0, 8 * 46, every):
        offset, bit = divmod(place, 8)
        data[entry + offset] ^= 1 << bit
        saved.write_bytes(data)
        with contextlib.suppress(SolutionError):
            assert is_duel(solver.load(saved))
        data[entry + offset] ^= 1 << bit


@pytest.mark.parametrize("header", [b"[]", b"{}", b"null", b'{"format": "else"}', b"{", b"\xff"])
def test_other_headers_are_rejected(saved: Path, header: bytes) -> None:
    rewrite(saved, header=header)
    assert_rejected(saved)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "wfb_gym replay"}, "expected a solution"),
        ({"version": 0}, "expected format version 1, found 0"),
        ({"version": "9" * 100_000}, 'expected format version 1, found "999'),
        ({"version": "\x1b[2J"}, r'expected format version 1, found "\?\[2J"; solve'),
        *(
            ({key: ...}, "damaged or unsupported")
            for key in ("version", "rules", "table", "scenario", "seconds")
        ),
        ({"rules": "0123"}, "other rules"),
        ({"table": "0123"}, "other data"),
        ({"scenario": "{}"}, "damaged or unsupported"),
        ({"scenario": 5}, "damaged or unsupported"),
        ({"scenario": json.dumps({"name": DEEP})}, "tables and lists at most 12 deep"),
        ({"seconds": "long"}, "damaged or unsupported"),
        ({"seconds": float("nan")}, "seconds: expected a number from 0, found nan"),
        ({"seconds": -1.0}, "seconds: expected a number from 0, found -1.0"),
    ],
)
def test_solutions_of_other_rules_or_incomplete_ones_are_rejected(
    saved: Path, changed: dict[str, Any], message: str
) -> None:
    with_header(saved, **changed)
    assert_rejected(saved, message)


@pytest.mark.parametrize("name", SavedGraph._fields)
def test_arrays_that_do_not_fit_together_are_rejected(saved: Path, name: str) -> None:
    whole = saved.read_bytes()
    array = array_of(saved, name)
    wrong = [None, b"", npy(array)[:-1], npy(np.zeros((2, 2, 2), array.dtype)), pickled()]
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


def test_unreachable_situations_are_stored_too(tmp_path: Path) -> None:
    written = solver.solve("apprentice")
    battle = Battle(written.packed)
    battle.state.power = 9
    battle.state.wounds[0, 0] = 5
    value = written.value_of(battle)
    written.save(tmp_path / "more.zip")
    assert solver.load(tmp_path / "more.zip").value_of(battle) == value


def test_a_file_that_unpacks_to_more_than_solutions_may_take_is_rejected(saved: Path) -> None:
    size = sum(len(member) for member in members(saved).values())
    assert is_duel(solver.load(saved, max_bytes=size))
    with pytest.raises(SolutionError, match=f"unpacks to {size:,} bytes, expected at most"):
        solver.load(saved, max_bytes=size - 1)


def test_a_small_file_that_unpacks_to_much_is_rejected(saved: Path) -> None:
    rewrite(saved, values=npy(np.zeros(2**22)))
    assert saved.stat().st_size < 2**20
    assert_rejected(saved, r"unpacks to .* bytes, expected at most 16,777,216")


@pytest.mark.parametrize("header", [b"[" * 12_000_000, b"[]," * 4_000_000])
def test_a_long_header_is_not_read(saved: Path, header: bytes) -> None:
    rewrite(saved, header=header)
    assert saved.stat().st_size < 2**16
    tracemalloc.start()
    try:
        assert_rejected(saved, r"header.json: expected at most 1,048,576 bytes")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_other_members_are_rejected_before_any_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("more.npy", b"")
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    assert_rejected(saved, r"expected 9 members, found 10: .* .'more.npy'")


def test_nodes_of_one_key_are_rejected_before_they_are_indexed(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexing takes time by the square of their number."""
    many = {
        name: npy(np.repeat(array_of(saved, name)[:1], 300_000, axis=0))
        for name in ("keys", "kinds", "counts", "values", "chosen")
    }
    rewrite(saved, **many)
    monkeypatch.setattr(GameGraph, "_fill_index", None)
    assert_rejected(saved, "node 1: expected a unique key, found a duplicate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder for solutions."""
    monkeypatch.setattr(solving, "CACHE_FOLDER", tmp_path)
    return tmp_path / "solutions"  # type: ignore[return-value]


def test_stored_solutions_are_not_solved_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[int] = []
    first = solver.solve("archmage-duel", progress=reported.append, cache=True)
    assert reported
    digest = packed_digest(pack(load_scenario("archmage-duel")))
    assert [each.name for each in folder.iterdir()] == [f"{digest}.zip"]
    reported.clear()
    explored = []
    explore = GameGraph.explore

    def counted(self: GameGraph, state: Any, progress: Any = None) -> int:
        before = self.size
        node = explore(self, state, progress)
        explored.append(self.size - before)
        return node

    monkeypatch.setattr(GameGraph, "explore", counted)
    again = solver.solve("archmage-duel", progress=reported.append, cache=True)
    assert not reported
    assert not any(explored)
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
    assert whole.value == fresh.value
    assert whole.states == fresh.states
    assert whole.seconds > 1000.0
    assert solver.load(path).seconds > 1000.0
    reported.clear()
    assert solver.solve("archmage-duel", progress=reported.append, cache=True).value == whole.value
    assert not reported


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


@pytest.mark.parametrize("damage", ["garbage", "other rules", "wrong arrays", "other scenario"])
def test_a_rejected_file_is_solved_and_written_again(folder: Path, damage: str) -> None:
    first = solver.solve("apprentice", cache=True)
    (path,) = folder.iterdir()
    if damage == "garbage":
        path.write_bytes(b"garbage")
    elif damage == "other rules":
        with_header(path, rules="other")
    elif damage == "wrong arrays":
        rewrite(path, values=npy(np.zeros(3)))
    else:
        solver.solve("orc-shaman-hunt").save(path)
    again = solver.solve("apprentice", cache=True)
    assert again.scenario == first.scenario
    assert again.value == first.value
    assert same(solver.load(path).graph, first.graph)


def test_too_large_games_are_not_stored(folder: Path) -> None:
    with pytest.raises(solver.TooLarge):
        solver.solve("archmage-duel", max_bytes=160_000, cache=True)
    assert not folder.exists() or not list(folder.iterdir())
    whole = solver.solve("archmage-duel", cache=True)
    assert whole.value == pytest.approx(9.679397618926652, abs=1e-9)


def test_a_read_only_folder_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setattr(solving, "CACHE_FOLDER", blocked)
    assert solver.solve("apprentice", cache=True).value == solver.solve("apprentice").value
