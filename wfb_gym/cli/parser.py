"""What the commands share: how input is refused."""

import argparse
import sys
from typing import Any, NoReturn, TypeAlias

COULD_NOT_RUN = 2
"""Exit status after bad input."""


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that refuses bad input in one line, without the usage."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong on stderr and end.

        Args:
            message: what was expected and what was found.

        Raises:
            SystemExit: always, with status 2.
        """
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(COULD_NOT_RUN)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no public name
"""Where a command adds its parser."""


def whole_number(text: str) -> int:
    """An argument that is a whole number.

    Raises:
        argparse.ArgumentTypeError: it is not one.
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None
