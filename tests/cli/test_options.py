"""Command lines declared as dataclasses."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from wfb_gym.cli.parser import Parser, add_options, option, parse_options


@dataclass(frozen=True)
class Base:
    """Options shared by several commands.

    Attributes:
        scenario: bundled name or file.
    """

    scenario: str = option(positional=True)


@dataclass(frozen=True)
class Options(Base):
    """Options of a command.

    Attributes:
        seats: whose seats they are.
        seed: seed of the dice, which
            takes two lines here (default: drawn).
        share: 50 % of something.
        out: a file.
        opponent: names of players.
        wizard: a level and spells.
        own: dice of each wizard.
        quick: a short run.
        json: print JSON.
    """

    seats: str = option("both", choices=("both", "one"))
    seed: int | None = option(None, metavar="N")
    share: float = field(default=0.5, metadata={"aliases": ("--part",)})
    out: Path | None = None
    opponent: tuple[str, ...] = ("veteran",)
    wizard: tuple[tuple[str, ...], ...] = ()
    own: tuple[int, ...] | None = option(None, nargs="*")
    quick: bool = option(False, exclusive="form")
    json: bool = option(False, exclusive="form")


def parse(line: str) -> Options:
    return parse_options(Options, line.split(), module="a.b", description="Print a number.")[0]


def test_options_have_the_types_of_their_fields() -> None:
    line = "duel --seed 3 --part 0.25 --out a/b --opponent x --opponent y --wizard 4 a --wizard 2 b"
    wizards = (("4", "a"), ("2", "b"))
    values = ("duel", "both", 3, 0.25, Path("a/b"), ("x", "y"), wizards, (1, 2))
    assert parse(f"{line} --own 1 2 --json") == Options(*values, json=True)
    assert parse("duel --own").own == ()
    assert parse("duel") == Options("duel")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "the following arguments are required: scenario"),
        ("duel --seed x", "argument --seed: expected a whole number, found 'x'"),
        ("duel --share x", "argument --share/--part: expected a number, found 'x'"),
        ("duel --seats bth", "(did you mean both?)"),
        ("duel --quick --json", "not allowed with argument --quick"),
        ("duel --sead 3", "(did you mean --seed?)"),
    ],
)
def test_bad_input_is_rejected(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse(line)
    assert end.value.code == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("python -m a.b: ")
    assert message in error


def test_docstrings_and_defaults_are_the_help() -> None:
    parser = Parser()
    add_options(parser, Options)
    expected = {
        "scenario": "bundled name or file",
        "seats": "whose seats they are (default: both)",
        "seed": "seed of the dice, which takes two lines here (default: drawn)",
        "share": "50 %% of something (default: 0.5)",
        "opponent": "names of players; repeat for several (default: veteran)",
        "quick": "a short run",
    }
    assert expected.items() <= {action.dest: action.help for action in parser._actions}.items()


@pytest.mark.parametrize(
    ("given", "hint"), [("name 3x", " (did you mean name 3 or"), ("x", " (--help lists all 40)")]
)
def test_many_choices_are_not_listed(
    capsys: pytest.CaptureFixture[str], given: str, hint: str
) -> None:
    parser = Parser(prog="x")
    parser.add_argument("--task", choices=[f"name {k}" for k in range(40)])
    with pytest.raises(SystemExit):
        parser.parse_args(["--task", given])
    error = capsys.readouterr().err
    assert error.startswith(f"x: argument --task: invalid choice: {given!r}{hint}")
    assert error.count("name ") < 5
