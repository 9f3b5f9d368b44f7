"""Early ends of commands: Ctrl-C at any time, closed pipes, full disks."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from experiments.common import write_json
from tests.support.pages import ROOT
from tests.support.scripts import run_python
from wfb_gym import transcripts
from wfb_gym.cli import main
from wfb_gym.files import save_figure
from wfb_gym.scenario import load_scenario

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")

COMMANDS = (
    "agents.train_fast --out {out}",
    "wfb_gym play archmage-duel --odds --seed 1",
    "wfb_gym advise border-skirmish",
    "experiments.solve --all",
    "experiments.benchmark",
    "experiments.tournament --out {out}",
    "experiments.exploitability veteran greedy --scenario grand-conclave",
    "experiments.leaderboard --evaluate veteran --folder {out}",
    "experiments.optimality_gap --out {out}",
    "tools.pages --check",
    "tools.gallery --check",
)
SCRIPT = "wfb-gym"


def words_of(line: str, out: Path) -> list[str]:
    """Return Python's arguments for a command: the script, or ``-m`` and a module."""
    name, *arguments = line.format(out=out).split()
    if name != SCRIPT:
        return ["-m", name, *arguments]
    (out / SCRIPT).write_text(  # as pip writes it
        "import sys\n"
        "from wfb_gym.cli import main\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(main())\n"
    )
    return [str(out / SCRIPT), *arguments]


def path_with(*folders: Path) -> dict[str, str]:
    """Return environment variables with which a script imports from some folders and the clone."""
    return {"PYTHONPATH": os.pathsep.join(map(str, [*folders, ROOT]))}


def start(line: str, out: Path, *options: str) -> subprocess.Popen[str]:
    """Start a command in its own process group."""
    # Otherwise it would ignore Ctrl-C if the tests do, as in a background job.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, *options, "-m", *line.format(out=out).split()]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, cwd=ROOT, env=env, text=True, start_new_session=True, **pipes)


@pytest.mark.parametrize(
    ("line", "latest"),
    [
        (COMMANDS[0], 0.2),
        *[
            pytest.param(line, 4.0 if line.startswith("exp") else 1.0, marks=pytest.mark.slow)
            for line in COMMANDS
            for _ in range(3)
        ],
    ],
)
def test_ctrl_c_at_any_moment_is_one_line(line: str, latest: float, tmp_path: Path) -> None:
    # Scripts of the clone install the handlers at once, `wfb_gym`'s main function before it runs.
    last = "numba" if line.startswith("wfb_gym") else "wfb_gym._commands"
    with start(line, tmp_path, "-X", "importtime") as process:
        assert process.stderr is not None
        while (shown := process.stderr.readline()).split("|")[-1].strip() != last:
            assert shown, "it ended"
        assert process.stderr.readline()  # the next import: the handlers are installed
        time.sleep(random.uniform(0, latest))
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    said = [each for each in errors.splitlines() if not each.startswith("import time:")]
    assert process.returncode == 130, errors[-2000:]
    assert "Traceback" not in errors, said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # no process of the group is left


@pytest.mark.parametrize("line", [*COMMANDS[:2], "tools.report", f"{SCRIPT} play"])
def test_ctrl_c_does_not_unload_half_a_module(line: str, tmp_path: Path) -> None:
    """Partly loaded compiled modules abort when Python unloads them."""
    (tmp_path / "numba.py").write_text(
        "import os, sys\n"
        "class Half:\n"
        "    def __del__(self, abort=os.abort): abort()\n"
        "sys.modules['half'] = Half()\n"
        "raise KeyboardInterrupt\n"
    )
    ended = run_python(*words_of(line, tmp_path), cwd=tmp_path, env=path_with(tmp_path))
    assert (ended.status, ended.err) == (130, "interrupted\n")


def test_ctrl_c_that_an_import_turns_into_another_error_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "imported.py").write_text(
        "import signal\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt:\n"
        "    raise ValueError('another error') from None\n"
    )
    (tmp_path / "command.py").write_text("def main():\n    import imported\n")
    (tmp_path / SCRIPT).write_text(
        "from wfb_gym._commands import install_handlers\n"
        "install_handlers()\n"
        "import command\n"
        "command.main()\n"
    )
    ended = run_python(tmp_path / SCRIPT, env=path_with())
    assert (ended.status, ended.err) == (130, "interrupted\n")


@pytest.mark.parametrize("waits", [False, True], ids=["works", "waits"])
def test_ctrl_c_is_not_lost_while_an_object_is_deleted(waits: bool, tmp_path: Path) -> None:
    """Python ignores exceptions raised there, and a network or a compiler deletes many objects."""
    goes_on = "time.sleep(20)" if waits else "[time.sleep(0.01) for _ in range(2000)]"
    (tmp_path / SCRIPT).write_text(
        "import signal, time\n"
        "from wfb_gym._commands import install_handlers\n"
        "install_handlers()\n"
        "class Deleted:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "Deleted()\n"
        f"{goes_on}\n"
    )
    ended = run_python(tmp_path / SCRIPT, env=path_with())
    assert (ended.status, ended.err) == (130, "interrupted\n")


def test_ctrl_c_keeps_the_transcript(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "battle.jsonl"
    with start(f"wfb_gym play apprentice --seed 1 --yes --transcript {kept}", tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("2\n")
        process.stdin.flush()
        said = ""
        while said.count("Your choice:") < 2:
            letter = process.stdout.read(1)
            assert letter, said
            said += letter
        os.killpg(process.pid, signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (130, False), errors
    assert "You leave the table" in rest
    assert main(["replay", str(kept)]) == 0
    assert "It was broken off here" in capsys.readouterr().out


def run_with_streams(
    line: str, out: Path, redirections: str = "", encoding: str = "utf-8", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a command with standard streams redirected or closed by a shell, or in an encoding."""
    shell = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, *words_of(line, out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "input": b"", **options}
    env = os.environ | path_with() | {"PYTHONIOENCODING": encoding}
    return subprocess.run(shell, cwd=ROOT, env=env, check=False, **pipes)


@pytest.mark.parametrize("line", ["wfb_gym roll --dice 3 --value 8", f"{SCRIPT} scenarios"])
def test_a_closed_pipe_is_no_error(line: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = run_with_streams(line, tmp_path, stdout=closed)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_output_to_a_full_disk_gives_a_one_line_error(tmp_path: Path) -> None:
    ended = run_with_streams(f"{SCRIPT} roll --dice 3 --value 8", tmp_path, f">{FULL}")
    assert (ended.returncode, ended.stderr) == (1, b"wfb-gym: No space left on device\n")


PLAYING = "wfb_gym play archmage-duel --seed 1"


def test_answers_and_output_in_an_encoding_without_some_characters(tmp_path: Path) -> None:
    answers = "Böll\n".encode() + "1\nquit\n".encode("utf-16")
    done = run_with_streams(PLAYING, tmp_path, encoding="ascii", input=answers)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"###### 6 power dice" in done.stdout
    assert b"Expected a choice" in done.stdout  # in place of the answer with the unknown letter
    assert done.stdout.endswith(b"You leave the table: the score is even.\n")
    file = tmp_path / "own.toml"
    text = (ROOT / "wfb_gym/data/scenarios/archmage-duel.toml").read_text()
    file.write_text(text.replace('name = "Archmage"', 'name = "Zoë"'), encoding="utf-8")
    done = run_with_streams(f"wfb_gym odds {file} --json", tmp_path, encoding="ascii")
    assert json.loads(done.stdout)["wizards"][0]["name"] == "Zoë"


@pytest.mark.parametrize(
    ("redirections", "last"),
    [("<&-", b"You leave the table: the score is even.\n"), ("<&- >&- 2>&-", b"")],
)
def test_closed_streams_are_like_empty_ones(redirections: str, last: bytes, tmp_path: Path) -> None:
    battle = tmp_path / "battle.jsonl"
    line = f"{PLAYING} --transcript {battle}"
    done = run_with_streams(line, tmp_path, redirections)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.partition(f"The battle is in {battle}.\n".encode())[0]
    assert said.endswith(last)
    assert bool(said) == bool(last)
    replayed = run_with_streams(f"wfb_gym replay {battle}", tmp_path, redirections)
    assert (replayed.returncode, replayed.stderr) == (0, b"")
    assert (b"It was broken off here" in replayed.stdout) == bool(last)


def test_the_script_names_itself_in_errors_which_stay_on_a_closed_stderr(tmp_path: Path) -> None:
    line = f"{SCRIPT} roll --dice three"
    done = run_with_streams(line, tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, b"", 1)
    assert done.stderr.startswith(b"wfb-gym roll: ")
    done = run_with_streams(line, tmp_path, "2>&-")
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("experiments.leaderboard --evaluate random --quick --folder {out}", "random.json"),
        pytest.param(
            "experiments.exploitability random --scenario apprentice --out {out}/grades.json",
            "grades.json",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_commands_keep_the_old_file_on_a_full_disk(line: str, name: str, tmp_path: Path) -> None:
    """The command cannot write files above 100 bytes, as if the disk became full."""
    # The limit is set by the command's own process: a fork of this one would disturb its threads.
    limited = (
        "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        "os.execv(sys.executable, [sys.executable, '-m', *sys.argv[1:]])"
    )
    path = tmp_path / name
    before = (ROOT / "experiments/leaderboards/entries/random.json").read_bytes()
    path.write_bytes(before)
    done = run_python("-c", limited, *line.format(out=tmp_path).split())
    assert (done.status, "Traceback" in done.err) == (1, False)
    assert done.err.rstrip().endswith("File too large")
    assert path.read_bytes() == before
    others = (".lock", "unfinished")  # the file from which a grading resumes
    assert [each for each in tmp_path.iterdir() if each.name not in others] == [path]


@pytest.mark.parametrize("is_command", [False, True])
def test_imports_do_not_change_hooks_and_signal_handlers(is_command: bool) -> None:
    """Also in a process that runs a command of the repository."""
    code = (
        "import signal, sys\n"
        f"if {is_command}: sys.orig_argv[1:] = ['-m', 'agents.solve']\n"
        "def held():\n"
        "    hooks = [sys.excepthook, sys.unraisablehook]\n"
        "    return hooks + [signal.getsignal(each) for each in signal.valid_signals()]\n"
        "before = held()\n"
        "import agents, experiments, tools, wfb_gym\n"
        "assert held() == before\n"
        "from wfb_gym._commands import command_name\n"
        f"assert (command_name() is not None) == {is_command}\n"
    )
    done = run_python("-c", code)
    assert done.status == 0, done.err


def test_every_command_of_the_checkout_begins_with_run_main() -> None:
    """Otherwise Ctrl-C during its imports would end in a traceback."""
    for package in ("agents", "experiments", "tools"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if '__name__ == "__main__"' in text:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                code = text[text.index('"""', 3) + 3 :].lstrip()
                assert code.startswith(
                    "from wfb_gym._commands import run_main\n\n"
                    f'if __name__ == "__main__":\n    run_main("{name}")\n'
                ), path
                assert text.count('__name__ == "__main__"') == 1, path


TRANSCRIPT = transcripts.Transcript(load_scenario("apprentice"), ("a", "b"), 1, (), 0.0, over=False)
WRITERS: dict[str, Callable[[Path], Any]] = {
    "results": lambda path: write_json(path, {"points": 1}),
    "picture": lambda path: save_figure(Figure(figsize=(1, 1)), path, 50),
    "battlefield": lambda path: main(["draw", "border-skirmish", "--out", str(path)]),
    "transcript": lambda path: transcripts.write(TRANSCRIPT, path),
}


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("what", WRITERS)
def test_writing_to_a_full_disk_keeps_the_old_file(what: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.png"
    path.write_text("before", encoding="utf-8")
    (tmp_path / f"kept.png.{os.getpid()}.part").symlink_to(FULL)
    with pytest.raises((OSError, SystemExit)):
        WRITERS[what](path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
    WRITERS[what](path)
    assert path.read_bytes() != b"before"
