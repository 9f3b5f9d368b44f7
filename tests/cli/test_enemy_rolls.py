"""``advise`` for a caster whose enemy rolls for its spells."""

import json

import pytest

from wfb_gym.cli import main

TEXT = """\
name = "enemy-rolls"
[caster]
power_dice = 3
[[caster.wizards]]
name = "Anna"
level = 2
spells = [{ name = "Bolt", casting_value = 5, worth = 20 }]
[dispeller]
dispel_dice = 2
[[dispeller.wizards]]
name = "Bert"
level = 1
lore = "Fire"
"""


def test_the_advice_is_for_the_caster(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path_factory.mktemp("own") / "enemy-rolls.toml"
    file.write_text(TEXT)
    main(["advise", str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("cast Bolt")
    assert any("points to the caster" in line for line in lines)
    assert not any("points to the dispeller" in line for line in lines)
    assert not any(line.endswith(" Fiery Blast") for line in lines)
    main(["advise", str(file), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["mover"] == "caster"
    assert document["value"] > 0
