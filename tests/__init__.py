"""Tests: the folders mirror the package."""

from pathlib import Path

import pytest

# A failed assertion in a helper module shows its values too.
pytest.register_assert_rewrite(
    *(f"tests.{each.name}" for each in Path(__file__).parent.iterdir() if each.is_dir())
)
