"""The pages of the environments: current, complete, and equal to the signatures of the classes."""

from copy import deepcopy
from pathlib import Path

import gymnasium as gym
import pytest

from tools import pages
from tools.documents import find_stale_files
from tools.pages import merge_sections
from wfb_gym.envs.battles import BattleEnv
from wfb_gym.envs.single import CasterEnv, MagicPhaseEnv


def test_every_id_has_a_current_page() -> None:
    wanted = pages.make_pages()
    assert find_stale_files(wanted, pages.FOLDER, "*.md") == [], "python -m tools.pages"
    ids = {name for name in gym.registry if name.startswith("wfb_gym/")}
    made = [text for path, text in wanted.items() if path not in pages.WRITTEN]
    assert {text.split('make("')[1].split('"')[0] for text in made} == ids


def test_a_class_extends_the_text_of_its_base() -> None:
    base, caster = pages.split_sections(MagicPhaseEnv.__doc__ or ""), merge_sections(CasterEnv)
    assert caster["Rewards"] == base["Rewards"]
    assert caster["Description"].startswith(base["Description"])
    assert len(caster["Description"]) > len(base["Description"])
    arguments = pages.parse_argument_rows(merge_sections(BattleEnv)["Arguments"])
    assert (arguments[0].name, arguments[0].default) == ("scenario", '"border-skirmish"')
    assert arguments[-1].name == "seat"


def test_wrong_docstrings_are_rejected() -> None:
    class Plain(MagicPhaseEnv):
        """A seat without its own version history."""

    Plain.__module__ = "wfb_gym.envs.plain"
    with pytest.raises(ValueError, match="Plain: expected a section 'Version History'"):
        merge_sections(Plain)
    Plain.__doc__ = "A seat.\n\n## Wards\n\nNone.\n\n## Version History\n\n* v0: first"
    with pytest.raises(ValueError, match=r"Plain: expected the sections .*see \['Wards'\]"):
        merge_sections(Plain)
    spec = deepcopy(gym.spec("wfb_gym/Caster-v0"))
    spec.version = 7
    with pytest.raises(ValueError, match="CasterEnv: expected v7 in its Version History"):
        pages.make_environment_page(spec)


def test_arguments_are_those_of_the_signature() -> None:
    documented = pages.parse_argument_rows(merge_sections(CasterEnv)["Arguments"])
    pages.check_arguments(CasterEnv, documented)
    with pytest.raises(ValueError, match="CasterEnv: expected arguments"):
        pages.check_arguments(CasterEnv, documented[1:])
    wrong = pages.Argument("strict", "True", "")
    changed = [wrong if one.name == "strict" else one for one in documented]
    with pytest.raises(ValueError, match=r"CasterEnv\.strict: expected False, found True"):
        pages.check_arguments(CasterEnv, changed)


def test_stale_pages_are_named(tmp_path: Path) -> None:
    for name in ("kept", "old", "left"):
        (tmp_path / f"{name}.md").write_text("as it was", encoding="utf-8")
    texts = {"kept": "as it was", "old": "new", "more": ""}
    wanted = {tmp_path / f"{name}.md": text for name, text in texts.items()}
    assert find_stale_files(wanted, tmp_path, "*.md") == ["left.md", "more.md", "old.md"]
