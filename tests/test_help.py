"""Every option of every command has a help text, and learners have the same options."""

import argparse
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import pytest

from tests.support.pages import ROOT
from wfb_gym.cli.parser import Parser

OURS = ("wfb_gym", "agents", "experiments", "tools")
FILES = [path for package in OURS[1:] for path in (ROOT / package).rglob("*.py")]
MODULES = [path for path in FILES if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]
NAMES = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES)
COMMANDS = ["wfb_gym.cli", *sorted(NAMES)]


class Parsed(Exception):  # noqa: N818 - it transports a parser
    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


def options_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from options_of(each)
        else:
            name = "/".join(action.option_strings) or action.dest
            yield f"{parser.prog} {name}", action


def meaning(action: argparse.Action) -> str:
    """Return a help text without the default value."""
    return re.sub(r"\(default: .*\)|repeat for several", "", action.help or "").strip()


def parser_of(monkeypatch: pytest.MonkeyPatch, main: Callable[..., Any]) -> Any:
    def parse(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise Parsed(parser)

    for kind in (argparse.ArgumentParser, Parser):
        monkeypatch.setattr(kind, "parse_known_args", parse)
    monkeypatch.setattr(sys, "argv", ["command"])
    with pytest.raises(Parsed) as found:
        main([]) if signature(main).parameters else main()
    return found.value.parser


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_text(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        main = importlib.import_module(command).main
    except ModuleNotFoundError as error:
        if str(error.name).split(".", maxsplit=1)[0] in OURS:
            raise
        pytest.skip(f"needs {error.name}")
    options = dict(options_of(parser_of(monkeypatch, main)))
    assert options
    if command.startswith("agents."):
        flags = {flag for action in options.values() for flag in action.option_strings}
        assert {"--quick", "--json", "--seed", "--out"} <= flags
    assert [name for name, action in options.items() if not meaning(action)] == []
    # Paths are printed relative to the working folder, so they differ on other machines.
    assert [name for name, action in options.items() if str(ROOT) in str(action.help)] == []
