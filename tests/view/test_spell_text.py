"""Spells in one sentence."""

import pytest

from wfb_gym.scenario.spells import Spell, lore_spells
from wfb_gym.view.spell_text import spell_sentence


@pytest.mark.parametrize(
    ("row", "sentence"),
    [({"name": "Fire Ball"}, 'Enemy unit; magic missile; 24": D6 hits S4, flaming.'),
     ({"name": "Commandment of Brass"},
      '; only war machine, chariot; 24": the target cannot move or shoot; lasts one turn.'),
     ({"name": "The Comet of Casandora", "worth": 60.0}, "; here with a fixed value."),
     ({"name": "Own", "casting_value": 7, "worth": 5.0}, "A fixed value: no target."),
     ({"name": "Own", "casting_value": 7, "target": "caster", "worth": {"points": 3.0}},
      "The caster: worth 3 points by estimate.")],
)  # fmt: skip
def test_a_sentence_has_targets_range_effect_and_duration(
    row: dict[str, object], sentence: str
) -> None:
    assert spell_sentence(Spell.model_validate(row)).endswith(sentence)


def test_every_spell_of_a_lore_has_an_effect_in_words() -> None:
    for spell in lore_spells():
        sentence = spell_sentence(Spell.model_validate({"name": spell.name}))
        assert ": worth" not in sentence
