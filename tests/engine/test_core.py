"""The core contains every shared function, and compiled code calls the core's functions."""

from importlib import import_module
from pkgutil import walk_packages

import pytest

import wfb_gym
from wfb_gym.engine import core as module

core = module.core
pytestmark = pytest.mark.skipif(not hasattr(core, "overloads"), reason="without a compiler")


def test_the_core_calls_every_shared_function() -> None:
    names = [each.name for each in walk_packages(wfb_gym.__path__, "wfb_gym.")]
    modules = [import_module(name) for name in names if ".engine." in name or ".rules." in name]
    shared = {
        name
        for each in modules
        for name, function in vars(each).items()
        if getattr(function, "is_shared", False)
    }
    assert shared == set(core.py_func.__code__.co_names)  # type: ignore[attr-defined]
    assert len(shared) == 5
