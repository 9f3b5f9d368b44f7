"""The cache key of compiled code covers every file with compiled code."""

import ast
from functools import cache
from pathlib import Path

import wfb_gym
from wfb_gym import _jit

ROOT = Path(wfb_gym.__file__).parent


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module of the package."""
    paths = {path: path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")}
    return {
        ".".join(("wfb_gym", *parts)): ast.parse(path.read_bytes()) for path, parts in paths.items()
    }


def _is_compiled(function: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def _names_used(node: ast.AST) -> set[str]:
    """Return the names used by compiled functions and by module-level code."""
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            parts: list[ast.AST] = list(child.body) if _is_compiled(child) else []
            inside = (part for body in parts for part in ast.walk(body))
            names |= {part.id for part in inside if isinstance(part, ast.Name)}
        elif isinstance(child, ast.AnnAssign):
            names |= _names_used(child.value) if child.value is not None else set()
        elif isinstance(child, ast.Name):
            names.add(child.id)
        else:
            names |= _names_used(child)
    return names


def _modules_read_by(name: str) -> set[str]:
    """Return the modules of the package from which a module imports such a name."""
    used = _names_used(trees()[name])
    return {
        module
        for node in ast.walk(trees()[name])
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if (alias.asname or alias.name) in used
        for module in (f"{node.module}.{alias.name}", node.module)
        if module in trees()
    }


def test_the_digest_has_each_file_that_compiled_code_reads_and_no_others() -> None:
    paths = (Path(name).with_suffix("") for name in _jit.compiled_sources())
    counted = {".".join(("wfb_gym", *path.parts)) for path in paths}
    functions = {
        name: [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        for name, tree in trees().items()
    }
    compiled = {name for name, found in functions.items() if any(map(_is_compiled, found))}
    assert len(compiled) > 50
    reached, pending = set(), list(compiled)
    while pending:
        if (name := pending.pop()) not in reached:
            reached.add(name)
            pending += _modules_read_by(name)
    assert reached - counted == set()
    assert "wfb_gym.engine.core" in counted
    assert not {f"wfb_gym.{name}" for name in ("envs.vector", "players.network")} & counted


def test_compiled_functions_assert_nothing() -> None:
    """`python -O` removes assertions, and its compiled code is used in every process."""
    for name, tree in trees().items():
        for each in ast.walk(tree):
            if isinstance(each, ast.FunctionDef) and _is_compiled(each):
                assert not any(isinstance(part, ast.Assert) for part in ast.walk(each)), name
