"""Small changes to a source file: one operator, constant, condition or statement."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PACKAGES = ("rules", "engine", "encoding", "solver", "players", "envs", "packing")
"""Packages of wfb_gym whose sources are changed."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin"}
_TYPES = {"bool", "bytes", "float", "int", "str", "None"}
_UNCHANGED = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Raise, ast.Assert)


@dataclass(frozen=True)
class Mutant:
    """A change of one expression or statement."""

    path: str  # relative to the repository
    start: int  # offset of the changed bytes, and of the byte after them
    end: int
    line: int  # number of the first changed line, from 1
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"

    @property
    def last_line(self) -> int:
        """Number of the last changed line."""
        return self.line + self.before.count("\n")

    def apply(self, source: bytes) -> bytes:
        """Return the file's text with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def changed_line(self, source: bytes) -> tuple[str, str]:
        """Return the first changed line of the file's text, before and after the change."""
        was, becomes = (
            text.decode().splitlines()[self.line - 1].strip()
            for text in (source, self.apply(source))
        )
        return was, becomes


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Return all mutants of a source file, in the order of the text.

    Docstrings, type annotations, decorators, imports and other strings stay as they are.
    """
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, changed in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before, after = source[start:end].decode(), ast.unparse(changed)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant | ast.Call):
            after = f"({after})"
        found.append(Mutant(path, start, end, node.lineno, before, after))
    return sorted(found, key=lambda each: (each.start, each.end, each.after))


def draw_mutants(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return mutants drawn at random, all equally likely, in random order.

    A larger count continues the same list.
    """
    files = [
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in sorted((root / "wfb_gym" / package).rglob("*.py"))
    ]
    mutants = [mutant for path in files for mutant in mutants_of(root, path)]
    order = np.random.default_rng(seed).permutation(len(mutants))
    return [mutants[place] for place in order[:count]]


_Node = ast.expr | ast.stmt


def _changes(node: ast.AST) -> Iterator[tuple[_Node, _Node]]:
    """Yield each node that can be changed, and its changed copy."""
    if isinstance(node, ast.expr):
        for changed in _changed_expressions(node):
            yield node, changed
    elif isinstance(node, ast.stmt) and _can_go(node):
        yield node, ast.Pass()
    for child in _children(node):
        yield from _changes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children in which code can be changed."""
    skipped: set[int] = set()
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        skipped |= {id(each) for each in node.decorator_list}
        if isinstance(node, ast.ClassDef):
            skipped |= {id(each) for each in (*node.bases, *node.keywords)}
        elif node.returns is not None:
            skipped.add(id(node.returns))
    elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        skipped.add(id(node.annotation))
    elif isinstance(node, _UNCHANGED) or _is_export_list(node):
        return
    for child in ast.iter_child_nodes(node):
        if id(child) not in skipped:
            yield child


def _is_export_list(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _can_go(node: ast.stmt) -> bool:
    """Return whether a statement can be deleted: a call, or a change of an existing value."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return not isinstance(node.targets[0], ast.Name | ast.Tuple)
    return isinstance(node, ast.AugAssign)


def _changed_expressions(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.copy(node)
    match changed:
        case ast.Compare(ops=[operator, *_]) if type(operator) in _COMPARISONS:
            changed.ops = [_COMPARISONS[type(operator)](), *changed.ops[1:]]
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS and not _is_type(changed):
            changed.op = _OPERATORS[type(operator)]()
        case ast.BoolOp():
            changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            changed = changed.operand
        case ast.Constant(value=bool(value)):
            changed.value = not value
        case ast.Constant(value=int(value) | float(value)):
            changed.value = value + 1
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            changed.func = ast.Name(_CALLS[name])
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _CALLS:
            changed.func = ast.Attribute(owner, _CALLS[name])
        case ast.IfExp():
            changed.body, changed.orelse = changed.orelse, changed.body
        case _:
            return
    yield changed


def _is_type(node: ast.BinOp) -> bool:
    """Return whether an expression is a union of types, such as `int | None`."""
    if not isinstance(node.op, ast.BitOr):
        return False
    names = [ast.unparse(each).rpartition(".")[2] for each in (node.left, node.right)]
    return any(name in _TYPES or name[:1].isupper() for name in names)
