"""The cache key of compiled code covers every file with compiled code."""

import ast
from pathlib import Path

import wfb_gym
from wfb_gym import _jit

ROOT = Path(wfb_gym.__file__).parent
FILES = {
    ".".join(("wfb_gym", *path.relative_to(ROOT).with_suffix("").parts)): path
    for path in ROOT.rglob("*.py")
}


def _is_compiled(function: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def _names_used(node: ast.AST) -> set[str]:
    """Return the names used by compiled functions and by module-level code."""
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            parts: list[ast.AST] = list(child.body) if _is_compiled(child) else []
            names |= {
                part.id for body in parts for part in ast.walk(body) if isinstance(part, ast.Name)
            }
        elif isinstance(child, ast.AnnAssign):
            names |= _names_used(child.value) if child.value is not None else set()
        elif isinstance(child, ast.Name):
            names.add(child.id)
        else:
            names |= _names_used(child)
    return names


def _modules_read_by(name: str) -> set[str]:
    """Return the modules of the package from which a module imports such a name."""
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    used = _names_used(tree)
    return {
        module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if (alias.asname or alias.name) in used
        for module in (f"{node.module}.{alias.name}", node.module)
        if module in FILES
    }


def test_each_file_that_compiled_code_reads_is_in_the_digest() -> None:
    counted = {
        ".".join(("wfb_gym", *Path(name).with_suffix("").parts)) for name in _jit.compiled_sources()
    }
    compiled = {
        name
        for name, path in FILES.items()
        if any(
            isinstance(node, ast.FunctionDef) and _is_compiled(node)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert len(compiled) > 50
    reached, pending = set(), list(compiled)
    while pending:
        if (name := pending.pop()) not in reached:
            reached.add(name)
            pending += _modules_read_by(name)
    assert reached - counted == set()


def test_files_without_compiled_code_keep_the_cache() -> None:
    counted = _jit.compiled_sources()
    assert "engine/core.py" in counted
    assert not {"envs/vector.py", "envs/single.py", "players/network.py"} & counted.keys()
