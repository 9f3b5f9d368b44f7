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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from wfb_gym.suggestions import did_you_mean

COULD_NOT_RUN = 2
"""Exit status after bad input."""
OptionsT = TypeVar("OptionsT")


class UsageError(Exception):
    """Raised for bad input while a command runs; names the option, expected and found value."""


@dataclass(frozen=True)
class Command:
    """A command of a program with several commands.

    Attributes:
        name: name on the command line.
        help: line in the list of commands.
        options: dataclass of its options.
        run: runs the command; raises `UsageError` for bad input.
        description: text at the start of its help.
        epilog: text at the end of its help.
        is_interactive: whether it waits for input, so that progress lines would disturb.
        describe_extra: returns an error message for arguments that belong to no option.
    """

    name: str
    help: str
    options: type[Any]
    run: Callable[[Any], object]
    description: str
    epilog: str = ""
    is_interactive: bool = False
    describe_extra: Callable[[argparse.Namespace, list[str]], str] | None = None


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that reports bad input in one line, without the usage.

    For an unknown command, choice or option, the line suggests a similar one.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        self.describe_extra: Callable[[argparse.Namespace, list[str]], str] | None = None
        """Returns an error message for arguments that belong to no option."""
        super().__init__(allow_abbrev=False, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(map(str, action.choices or ()), str(value))
            raise

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; reject unknown options and suggest a similar one."""
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
        """Print an error message on stderr and exit with status 2."""
        from wfb_gym.scenario.errors import printable  # messages may quote the content of files

        shown = "\n".join(map(printable, f"{self.prog}: {message}".split("\n")))
        print(shown, file=sys.stderr)
        raise SystemExit(COULD_NOT_RUN)


def option(default: Any = MISSING, *, positional: bool = False, **options: Any) -> Any:
    """Return a field of a dataclass of options.

    Args:
        default: value if the option is not given; a positional argument may have none.
        positional: whether the argument is positional, without a flag.
        **options: `aliases`, further spellings of the flag; `group`, its heading in the help;
            `exclusive`, a common name of mutually exclusive options; and arguments of
            `argparse.ArgumentParser.add_argument` that replace the usual ones.
    """
    metadata = {"positional": positional, **options}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def add_options(parser: argparse.ArgumentParser, options: type[Any]) -> None:
    """Add an argument for each field of a dataclass.

    A bool field, False by default, becomes a flag without a value. The flag of a tuple field can be
    repeated, or takes several values with `nargs`. Help texts come from the "Attributes:" section
    of the docstring.

    Args:
        parser: the parser.
        options: the dataclass.
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
    """Return the default arguments of `add_argument` for a field."""
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
    """Return the help text of a field: its docstring with the default."""
    shown = str(options["help"])
    if not meaning or (shown and not shown.startswith(("(", "repeat"))):
        return shown
    return f"{meaning}{'' if shown.startswith('(') or not shown else ';'} {shown}".strip()


def _meanings(options: type[Any]) -> dict[str, str]:
    """Return the texts of the "Attributes:" sections of a dataclass and its bases, by field."""
    found: dict[str, str] = {}
    for each in reversed(options.__mro__):
        section = cleandoc(each.__doc__ or "").partition("Attributes:\n")[2]
        for name, words in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE):
            found[name] = " ".join(words.split()).removesuffix(".").replace("%", "%%")
    return found


def given_options(options: type[Any], given: argparse.Namespace) -> dict[str, Any]:
    """Return the field values of a dataclass that a command line gives, lists as tuples."""
    names = {each.name for each in fields(options)}
    return {name: _as_tuple(value) for name, value in vars(given).items() if name in names}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def read_options(options: type[OptionsT], given: argparse.Namespace) -> OptionsT:
    """Return the options of a command line; options that are not given have their defaults."""
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
        options: dataclass of the options.
        arguments: the command line; `sys.argv[1:]` if None.
        module: name of the module, for the usage line.
        description: text at the start of the help.

    Returns:
        The options, and the parser to report later errors with.
    """
    parser = Parser(prog=f"python -m {module}", description=(description or "").strip())
    add_options(parser, options)
    return read_options(options, parser.parse_args(arguments)), parser


def flag_of(name: str) -> str:
    """Return the flag of a field."""
    return "--" + name.replace("_", "-")


def whole_number(text: str) -> int:
    """Parse a whole number.

    Raises:
        argparse.ArgumentTypeError: the text is not a whole number.
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


def check_folder(option: str, path: str | Path) -> None:
    """Check that the folder of an output file exists.

    Raises:
        UsageError: the folder does not exist.
    """
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"{option}: expected a file in a folder that exists, found {path}")
