"""Names in other spellings, and suggestions for unknown names."""

from wfb_gym.suggestions import close_names, did_you_mean, find_name, name_finder, one_of

SPELLS = ["Fire Ball", "Fiery Blast", "The Comet of Casandora", "Doom and Darkness!"]


def test_a_name_is_found_in_other_spellings_unless_it_is_ambiguous() -> None:
    for given in ("Fire Ball", "FIREBALL", "fire-ball", " Fire Ball"):
        assert find_name(SPELLS, given) == "Fire Ball"
    assert find_name(["Fire Ball", "Fireball"], "Fireball") == "Fireball"
    assert find_name(["Fire Ball", "Fireball"], "fire ball") is None
    assert find_name(["!", "?"], "?") == "?"
    assert find_name(["!"], "?") is None
    assert find_name(SPELLS, "Fire") is None
    assert find_name(SPELLS, "x" * 10**6) is None  # takes no time
    assert name_finder([])("") is None


def test_parts_of_names_are_suggested_before_typing_errors() -> None:
    assert close_names(SPELLS, "comet") == ["The Comet of Casandora"]
    assert close_names(SPELLS, "Firy Ball")[0] == "Fire Ball"
    assert close_names(SPELLS, "xyzzy") == close_names(SPELLS, "x" * 10**6) == []
    assert len(close_names([f"spell {k}" for k in range(9)], "spell")) == 3


def test_only_close_names_are_suggested() -> None:
    lores = ["Beasts", "Death", "Fire", "Heavens", "Life", "Light", "Metal", "Shadow"]
    assert close_names(lores, "High") == []
    assert one_of(lores, "High", "a lore") == f"a lore ({', '.join(lores)})"
    assert close_names(["Dwarf Warriors", "Halberdiers"], "Dark Elf Warriors") == []
    assert close_names(["range_inches", "damage", "target"], "range") == ["range_inches"]


def test_mistyped_shortened_and_lengthened_names_are_recognised() -> None:
    names = ["level", "draw", "Halberdiers", "Dwarf Warriors", "Orc Boyz", "?"]
    for given, name in (
        ("Halbadiers", "Halberdiers"),  # a letter is missing, and
        ("Haalberdiers", "Halberdiers"),  # too many
        ("Haklberdeirs", "Halberdiers"),
        ("lvl", "level"),
        ("drwa", "draw"),
        ("Empire Halberdiers", "Halberdiers"),
        ("the dwarf-warriors of Karak", "Dwarf Warriors"),
    ):
        assert close_names(names, given) == [name]
    spells = ["Conflagration of Doom", "Flaming Sword of Rhuin", "Uranon's Thunder Bolt"]
    assert close_names(spells, "Conflagation") == ["Conflagration of Doom"]
    assert close_names(spells, "flamng sword") == ["Flaming Sword of Rhuin"]
    assert close_names(spells, "thundrbolt") == ["Uranon's Thunder Bolt"]
    assert close_names(spells, "Rh") == close_names(spells, "bilt") == []
    assert close_names(["caster_engaged", "range_inches"], "ingaged") == ["caster_engaged"]


def test_questions() -> None:
    assert did_you_mean(["draw", "play"], "drwa") == " (did you mean draw?)"
    assert did_you_mean(["draw", "play"], "x") == ""
    assert one_of(SPELLS, "comet", "a spell") == "a spell (did you mean The Comet of Casandora?)"
    assert one_of(["a", "b"], "xyz", "a letter") == "a letter (a, b)"
    assert one_of([], "xyz", "a letter") == "a letter (there are none)"
    many = [str(k) for k in range(40)]
    assert one_of(many, "xyz", "a number") == "a number (none of the 40 is close)"
    assert one_of(many, "xyz", "a number", "seq 40") == "a number (seq 40 lists all 40)"
