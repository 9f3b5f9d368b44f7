"""Command lines declared as dataclasses: a field is an option, and its docstring is the help text.

    @dataclass(frozen=True)
    class Options:
        '''Options of a command.

        Attributes:
            scenario: bundled name or file.
            side: army whose spells are listed.
        '''

        scenario: str = option(positional=True)
        side: str = option("caster", choices=SEATS)

`add_options` adds the options to a `Parser`, and `read_options` returns an `Options` instance.
"""  # noqa: D214 - the docstring of the example

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from wfb_gym.suggestions import MAX_LISTED, did_you_mean

COULD_NOT_RUN = 2  # exit status after invalid input
OptionsT = TypeVar("OptionsT")


class UsageError(Exception):
    """Raised for invalid input while a command runs; names the option, expected and found value."""


@dataclass(frozen=True)
class Command:
    """A command in a program that has several."""

    name: str  # name on the command line
    help: str  # line in the list of commands
    options: type[Any]  # dataclass that declares its options
    # Function that runs the command. Raises `UsageError` if the input is invalid.
    run: Callable[[Any], object]
    description: str  # text at the start of its help
    epilog: str = ""  # text at the end of its help
    # whether it waits for input, so that progress lines would get in the way
    is_interactive: bool = False
    # function that returns an error message for arguments that match no option
    describe_extra: Callable[[argparse.Namespace, list[str]], str] | None = None


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that reports invalid input in one line, without usage help.

    If a command, choice or option is unknown, this line suggests a similar one.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        self.describe_extra: Callable[[argparse.Namespace, list[str]], str] | None = None
        """Returns an error message for arguments that match no option."""
        super().__init__(allow_abbrev=False, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = list(map(str, action.choices or ()))
            question = did_you_mean(choices, str(value))
            if len(choices) > MAX_LISTED:
                error.message = f"invalid choice: {value!r}"
                question = question or f" (--help lists all {len(choices)})"
            error.message += question
            raise

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, rejecting unknown options and suggesting similar ones."""
        found, extra = super().parse_known_args(args, namespace)
        options = [each for each in self._option_string_actions if each.startswith("--")]
        unknown = [each.partition("=")[0] for each in extra if each.startswith("-")]
        if unknown:
            question = did_you_mean(options, unknown[0])
            self.error(f"unrecognized arguments: {' '.join(extra)}{question}")
        if extra and self.describe_extra is not None:
            self.error(self.describe_extra(found, extra))
        if extra:
            hint = " (a name of several words needs quotes)"
            self.error(f"expected no more arguments, found {' '.join(extra)}{hint}")
        return found, extra

    def error(self, message: str) -> NoReturn:
        """Print an error message to stderr and exit with status 2."""
        from wfb_gym.scenario.errors import printable  # messages may quote file contents

        shown = "\n".join(map(printable, f"{self.prog}: {message}".split("\n")))
        print(shown, file=sys.stderr)
        raise SystemExit(COULD_NOT_RUN)


def option(default: Any = MISSING, *, positional: bool = False, **options: Any) -> Any:
    """Return a field for an options dataclass.

    Args:
        default: value if the option is not given. May be omitted for a positional argument.
        positional: whether the argument is positional rather than a flag.
        **options: `aliases`, alternative spellings of the flag; `group`, its heading in the help;
            `exclusive`, a common name for mutually exclusive options; and arguments to
            `argparse.ArgumentParser.add_argument` that override the defaults.
    """
    metadata = {"positional": positional, **options}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def add_options(parser: argparse.ArgumentParser, options: type[Any]) -> None:
    """Add an argument for each field in a dataclass.

    A bool field, which defaults to False, becomes a flag without a value. A tuple field's flag can
    be repeated, or takes several values if `nargs` is given. Help texts come from the "Attributes:"
    section in the docstring.
    """
    hints, meanings = get_type_hints(options), _meanings(options)
    places: dict[str, Any] = {}
    for each in fields(options):
        metadata = dict(each.metadata)
        is_positional = metadata.pop("positional", False)
        aliases, group = metadata.pop("aliases", ()), metadata.pop("group", "")
        exclusive = metadata.pop("exclusive", "")
        default = each.default if each.default_factory is MISSING else each.default_factory()
        found = _argument(hints[each.name], default, is_positional, metadata) | metadata
        found["help"] = _help(meanings.get(each.name, ""), found)
        place: Any = parser
        if group:
            place = places.setdefault(group, None) or parser.add_argument_group(group)
            places[group] = place
        elif exclusive:
            place = places.setdefault(exclusive, None) or parser.add_mutually_exclusive_group()
            places[exclusive] = place
        names = [each.name] if is_positional else [flag_of(each.name), *aliases]
        place.add_argument(*names, default=argparse.SUPPRESS, **found)


def _argument(
    hint: Any, default: Any, is_positional: bool, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a field's default arguments to `add_argument`."""
    shown = "" if default in (None, False, (), "", MISSING) else f"(default: {_shown(default)})"
    if hint is bool:
        return {"action": "store_true", "help": shown}
    kind = next((each for each in get_args(hint) if each is not NoneType), hint)
    is_tuple = tuple in (get_origin(hint), get_origin(kind))
    if is_tuple and get_origin(hint) is not tuple:  # `tuple[...] | None`
        kind = get_args(kind)[0]
    found: dict[str, Any] = {"help": shown}
    if get_origin(hint) is tuple and get_origin(kind) is tuple:
        kind = get_args(kind)[0]
        found |= {"action": "append", "nargs": "+"}
    elif is_tuple and is_positional:
        found["nargs"] = "*"
    elif is_tuple and "action" not in given:
        found["action"] = "extend" if "nargs" in given else "append"
        if "nargs" not in given:
            found["help"] = f"repeat for several {shown}".strip()
    elif is_positional and default is not MISSING:
        found["nargs"] = "?"
    if kind is not str:
        found["type"] = _CONVERTERS.get(kind, kind)
    return found


def _shown(default: Any) -> str:
    text = " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    return text.replace("%", "%%")


def _help(meaning: str, options: Mapping[str, Any]) -> str:
    """Return a field's help text: its description followed by the default."""
    shown = str(options["help"])
    if not meaning or (shown and not shown.startswith(("(", "repeat"))):
        return shown
    return f"{meaning}{'' if shown.startswith('(') or not shown else ';'} {shown}".strip()


def _meanings(options: type[Any]) -> dict[str, str]:
    """Return field descriptions from the "Attributes:" sections of a dataclass and its bases."""
    found: dict[str, str] = {}
    for each in reversed(options.__mro__):
        section = cleandoc(each.__doc__ or "").partition("Attributes:\n")[2]
        for name, words in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE):
            found[name] = " ".join(words.split()).removesuffix(".").replace("%", "%%")
    return found


def given_options(options: type[Any], given: argparse.Namespace) -> dict[str, Any]:
    """Return the dataclass's field values that the command line sets, with lists as tuples."""
    names = {each.name for each in fields(options)}
    return {name: _as_tuple(value) for name, value in vars(given).items() if name in names}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def read_options(options: type[OptionsT], given: argparse.Namespace) -> OptionsT:
    """Return a command line's options; options that are not given have their default values."""
    return options(**given_options(options, given))


def parse_options(
    options: type[OptionsT],
    arguments: Sequence[str] | None,
    *,
    module: str,
    description: str | None,
) -> tuple[OptionsT, Parser]:
    """Parse a module's command line.

    Args:
        options: dataclass that declares the options.
        arguments: the command line. If None, `sys.argv[1:]` is used.
        module: the module's name, for the usage line.
        description: text at the start of the help.

    Returns:
        The options, and the parser for reporting later errors.
    """
    parser = Parser(prog=f"python -m {module}", description=(description or "").strip())
    add_options(parser, options)
    return read_options(options, parser.parse_args(arguments)), parser


def flag_of(name: str) -> str:
    """Return a field's flag."""
    return "--" + name.replace("_", "-")


def whole_number(text: str) -> int:
    """Parse a whole number.

    Raises:
        argparse.ArgumentTypeError: if the text is not a whole number.
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {text!r}") from None


_CONVERTERS: dict[Any, Callable[[str], Any]] = {int: whole_number, float: _number}


@contextmanager
def report_write_errors(option: str, path: str | Path) -> Iterator[None]:
    """Raise a `UsageError` that names the option and its file if the block cannot write it."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{option}: {path}: {error.strerror or error}") from error


def check_folder(option: str, path: str | Path) -> None:
    """Check that the folder for an output file exists.

    Raises:
        UsageError: if the folder does not exist.
    """
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"{option}: expected a file in a folder that exists, found {path}")
