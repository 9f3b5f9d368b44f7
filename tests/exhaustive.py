"""Find the code that handles each member of an enumeration, from the sources.

A consumer is a function, or a constant of a module, that distinguishes at least half of the
reviewed members of an enumeration of `wfb_gym`: it compares with them, matches them, or lists them.
A consumer that omits some is listed in `consumers.toml` next to this file, with the reason. The
same file lists the members of the last review. So `find_problems` names every consumer that a new
member concerns, until each consumer handles it or the member is added to the reviewed ones.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tests.support.pages import place_of

REVIEWED = Path(__file__).with_name("consumers.toml")
FOLDERS = ("wfb_gym", "tests/engine")
"""Folders of the consumers."""
LEAST_NODES = 9
"""Number of nodes from which a function is a list of nodes; they come in kinds, and most functions
handle one kind."""
NOT_CONSUMERS = ("tests.engine.test_", "tests.support.builders", "wfb_gym.opponents.scripted.")
"""Comparisons with a single member, and scripted players, which delegate other decisions."""

Sources = Mapping[str, str]
"""Text of each module by its dotted name."""


@dataclass
class Consumer:
    """A function or a constant that distinguishes members of an enumeration.

    Its name is dotted, with its module; `named` are the members in its code.
    """

    name: str
    enumeration: str
    named: set[str] = field(default_factory=set)


def read_sources() -> dict[str, str]:
    """Return the modules that may contain consumers."""
    return {
        ".".join((folder / path.relative_to(place)).with_suffix("").parts): path.read_text("utf-8")
        for folder, place in ((Path(folder), place_of(folder)) for folder in FOLDERS)
        for path in sorted(place.rglob("*.py"))
    }


@lru_cache(maxsize=1024)
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


def find_enumerations(sources: Sources) -> dict[str, tuple[str, ...]]:
    """Return the members of all enumerations in `wfb_gym`, in order, by the enumeration's name."""
    found: dict[str, tuple[str, ...]] = {}
    for module, text in sources.items():
        for node in _parse(text).body:
            if not isinstance(node, ast.ClassDef) or not any(
                isinstance(base, ast.Name) and base.id in ("Enum", "Flag", "IntEnum", "StrEnum")
                for base in node.bases
            ):
                continue
            if node.name in found:
                raise ValueError(f"{module}: a second enumeration called {node.name}")
            found[node.name] = tuple(
                target.id
                for line in node.body
                if isinstance(line, ast.Assign)
                for target in line.targets
                if isinstance(target, ast.Name)
            )
    return found


def find_consumers(sources: Sources) -> list[Consumer]:
    """Return all consumers of all enumerations."""
    enumerations = find_enumerations(sources)
    found: dict[tuple[str, str], Consumer] = {}
    for module, text in sources.items():
        if module.startswith(NOT_CONSUMERS):
            continue
        for name, enumeration, member in _distinguished_in(text):
            if member in enumerations.get(enumeration, ()):
                key = (f"{module}.{name}", enumeration)
                found.setdefault(key, Consumer(*key)).named.add(member)
    reviewed = tomllib.loads(REVIEWED.read_text(encoding="utf-8"))["reviewed"]
    least = {name: len(reviewed.get(name, all_of)) / 2 for name, all_of in enumerations.items()}
    least["Node"] = LEAST_NODES
    return [each for each in found.values() if len(each.named) >= least[each.enumeration]]


@lru_cache(maxsize=1024)
def _distinguished_in(text: str) -> list[tuple[str, str, str]]:
    """Yield the definitions of a module, each with an enumeration and a member in it."""
    return [
        (name, enumeration, member)
        for name, definition in _definitions(_parse(text).body)
        for enumeration, member in _distinguished_members(definition)
    ]


def _definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the functions and constants of a module or a class, by name."""
    for line in body:
        if isinstance(line, ast.ClassDef):
            yield from _definitions(line.body, f"{prefix}{line.name}.")
        elif isinstance(line, ast.FunctionDef):
            yield prefix + line.name, line
        elif isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            yield prefix + line.targets[0].id, line
        elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            if line.value is not None:
                yield prefix + line.target.id, line.value


def _distinguished_members(definition: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield names of the form `Enumeration.MEMBER` that are compared, matched or listed."""
    for node in ast.walk(definition):
        operands: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            operands = list(node.keys)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            operands = list(node.elts)
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        for operand in operands:
            is_cast = isinstance(operand, ast.Call) and operand.args  # int(Node.END)
            named = operand.args[0] if isinstance(operand, ast.Call) and is_cast else operand
            if isinstance(named, ast.Attribute):
                owner = named.value
                yield getattr(owner, "id", getattr(owner, "attr", "")), named.attr


def find_problems(sources: Sources) -> list[str]:
    """Return one line for each consumer that neither names a member nor omits it on purpose."""
    enumerations = find_enumerations(sources)
    review = tomllib.loads(REVIEWED.read_text(encoding="utf-8"))
    partial = {(name, of) for of, names in review["partial"].items() for name in names}
    problems = []
    for consumer in find_consumers(sources):
        of = consumer.enumeration
        missing = set(enumerations[of]) - consumer.named
        if (consumer.name, of) in partial:
            partial.discard((consumer.name, of))
            missing -= set(review["reviewed"][of])
        problems += [
            f"{consumer.name}: {of}.{member} is neither handled nor left out on purpose"
            for member in sorted(missing)
        ]
    problems += [f"{name}: has an entry and distinguishes no {of}" for name, of in sorted(partial)]
    for of, known in review["reviewed"].items():
        gone = set(known) - set(enumerations.get(of, ()))
        problems += [f"{of}.{member} was reviewed and does not exist" for member in sorted(gone)]
    return problems
