"""Compiled code of a wheel: conditions for its use, and equal results."""

import json
import os
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import pytest

from tests.support.commands import run_command
from tests.support.scripts import run_python
from tests.test_compiler import RESULTS, report_of_a_process
from wfb_gym import _jit, _shipped
from wfb_gym.cli import main
from wfb_gym.files import atomic_write_text

COMPILED = "wfb_gym: compiling"

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a manifest that fits this process."""
    monkeypatch.setattr(_shipped, "FOLDER", tmp_path / "shipped")
    _shipped.FOLDER.mkdir()
    _shipped.write_manifest(_shipped.FOLDER, "0123")
    return _shipped.FOLDER


def has_features() -> bool:
    features = llvm.get_host_cpu_features()
    return all(features.get(each, False) for each in _shipped.target()[1])


@pytest.mark.skipif(not has_features(), reason="an old processor")
def test_code_is_used_if_environments_match(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shipped.find("0123") == folder
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")  # requested
    assert _shipped.find("0123") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sources", "4567"), ("python", "cpython-399"), ("numba", "0.1.0"),
        ("system", "vax-dec-ultrix"), ("features", ["no-such-feature"]),
        ("more", "than is known"),
    ],
)  # fmt: skip
def test_code_for_anything_else_is_not_used(folder: Path, key: str, value: Any) -> None:
    path = folder / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8")) | {key: value}
    atomic_write_text(path, json.dumps(document))
    assert _shipped.find("0123") is None


def test_an_invalid_manifest_is_no_error(folder: Path) -> None:
    for text in ("", "{", "[]", "{}", "null"):
        atomic_write_text(folder / "manifest.json", text)
        assert _shipped.find("0123") is None
    (folder / "manifest.json").unlink()
    assert _shipped.find("0123") is None


def test_folders_with_other_files_are_not_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    (tmp_path / "old.nbc").write_text("")
    done = run_command(capsys, main, "compile", "--into", str(tmp_path))
    assert done.status == 2
    assert done.err.endswith("expected an empty folder, found thesis.txt\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.nbc", "thesis.txt"]


def test_shipped_code_is_compiled_again_only_if_it_is_damaged(tmp_path: Path) -> None:
    """Entries of `compiled_sample`, made for the processor of shipped code, are used."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    fill = (
        "from pathlib import Path; from wfb_gym import _compiler\n"
        f"_compiler.ship_entries_into(Path({str(folder)!r}))"
    )
    with pytest.MonkeyPatch.context() as patched:
        for name, value in _shipped.environment().items():
            patched.setenv(name, value)
        found, _ = report_of_a_process(tmp_path / "first", fill)
    assert found["results"] == RESULTS
    names = sorted(path.stem.rpartition(".")[2] for path in folder.glob("*.nbi"))
    assert names == ["difference", "sum_of_squares"]
    (damaged,) = folder.glob("*difference*.nbc")
    damaged.write_bytes(damaged.read_bytes()[:-100])
    use = (
        "import sys; from pathlib import Path; from wfb_gym import _compiler, _jit\n"
        f"_compiler.use_entries(Path({str(folder)!r}), lambda f: sys.stderr.write(f.__name__))"
    )
    found, compiled = report_of_a_process(tmp_path / "second", use)
    assert (found["results"], compiled) == (RESULTS, "difference")
    assert found["kept"] == ["compiled_sample.difference"]


@pytest.mark.slow
def test_a_wheel_contains_all_compiled_code(tmp_path: Path) -> None:
    """Environments, solver and players start from it without compiling, and play the same."""
    folder = tmp_path / "shipped"
    play = (
        "import sys, numpy as np, gymnasium as gym, wfb_gym; from pathlib import Path\n"
        "from wfb_gym import _jit, _compiler, _shipped\n"
        "if sys.argv[1]: _compiler.use_entries(Path(sys.argv[1]), _jit.announce_compiling)\n"
        "env = gym.make_vec('wfb_gym/Battle-v0', num_envs=8, opponent='veteran')\n"
        "seen, info = env.reset(seed=1)\n"
        "for _ in range(200):\n"
        "    seen, *_, info = env.step(info['action_mask'].argmax(1))\n"
        "solution = wfb_gym.solver.solve('archmage-duel')\n"
        "lost = wfb_gym.solver.exploitability(solution, caster=lambda _, masks: masks.argmax(1))\n"
        "print(seen.tobytes().hex(), solution.value, lost)\n"
        "from wfb_gym.engine.battle import Battle; battle = Battle(solution.packed)\n"
        "for _ in range(2): battle.act(battle.legal_actions()[-1])\n"
        "from wfb_gym.transcripts import record\n"
        "played = record('border-skirmish', 'veteran', 'greedy', seed=1)\n"
        "print(battle.chance_outcomes(), played.points)\n"
        "from wfb_gym.cli import main; main(['odds', 'border-skirmish'])\n"
        "import contextlib, importlib.util, io, tempfile\n"
        "if importlib.util.find_spec('sb3_contrib'):\n"
        "    with tempfile.TemporaryDirectory() as at, contextlib.redirect_stdout(io.StringIO()):\n"
        "        main(['train', 'apprentice', '--steps', '2048', '--out', f'{at}/policy'])\n"
        "from wfb_gym.cli.compiling import compile_everything; compile_everything()\n"
    )

    def run(*words: str) -> tuple[str, str]:
        caches = len(list(tmp_path.iterdir()))
        done = run_python(*words, env={"WFB_GYM_CACHE_DIR": str(tmp_path / f"cache-{caches}")})
        assert done.status == 0, done.err
        return done.out, done.err

    run("-m", "wfb_gym", "compile", "--into", str(folder))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["sources"], manifest["numba"]) == (_jit.SOURCES, numba.__version__)
    results, said = run("-c", play, str(folder))
    assert COMPILED not in said
    compiled, said = run("-c", play, "")
    assert COMPILED in said
    assert results == compiled
