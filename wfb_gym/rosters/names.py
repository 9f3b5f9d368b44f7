"""Matching of a roster's names to the names in the package's data.

Catalogues and players spell names differently: singular and plural, with or without the army's
name, with numbers and remarks. `data/roster_names.toml` lists other names for the same thing.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from wfb_gym.scenario.documents import bundled_data, validate
from wfb_gym.scenario.fields import Name, StrictModel, Whole
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import (
    CharacterProfile,
    UnitProfile,
    army_list,
    bundled_armies,
    character_profiles,
    unit_profiles,
)
from wfb_gym.scenario.spells import LoreSpell, find_lore, find_lore_spell, lore_names
from wfb_gym.suggestions import find_name

_SIMILAR = 0.87  # minimum `difflib` ratio of a mistyped name
_LEAST_TYPED = 6  # minimum letters of a mistyped name
_HEADING_WORDS = frozenset(
    (
        "magic", "item", "level", "mount", "spell", "lore", "power", "stone", "runic", "rune",
        "selection", "show", "display", "detachment", "option", "equipment", "bloodline", "wizard",
        "prayer",
    )
)  # fmt: skip
_STOP = frozenset(("of", "the", "a", "an", "with", "and", "upgrade", "to", "in"))
_LEVEL = re.compile(
    r"\b(?:level|lvl|lev|lv|l)\.?\s*(?P<n>[1-4])\b|\b(?P<m>[1-4])(?:st|nd|rd|th) level\b"
    r"|^(?:magic |wizard )?level\s*$",
    re.IGNORECASE,
)
_LORE = re.compile(r"\blores?\b|\bmagic$|^magic of\b|necromancy|\bwaaagh!?$", re.IGNORECASE)

Names = tuple[Name, ...]
_Dice = Annotated[int, Whole(0, 4)]


class _AddedDice(StrictModel):
    name: Name
    power: _Dice = 0
    dispel: _Dice = 0


class _IgnoredWords(StrictModel):
    kind: Name
    words: Annotated[Names, Field(max_length=200)]


class _RosterNames(StrictModel):
    """The contents of ``data/roster_names.toml``."""

    armies: dict[Name, Names]
    units: dict[Name, Names]
    characters: dict[Name, Names]
    items: dict[Name, Names]
    lores: dict[Name, Names]
    spells: dict[Name, Names]
    army_words: Names
    magic_words: Names
    dice: tuple[_AddedDice, ...]
    ignored: tuple[_IgnoredWords, ...]


@cache
def roster_names() -> _RosterNames:
    """Return the other names, validated."""
    data: dict[str, Any] = bundled_data("roster_names")
    return validate(_RosterNames, data, "roster_names.toml")


def name_words(name: str) -> tuple[str, ...]:
    """Return a name's words in lower case and in the singular, without remarks and articles."""
    name = re.sub(r"[\[(*].*", "", name.casefold()) or name.casefold()
    name = re.sub(r"^\s*(?:0-1|\d+\.)\s*", "", name).replace("'s ", "s ")
    words = re.findall(r"[^\W_]+", name.replace("'", ""))
    return tuple(_singular(word) for word in words if word not in _STOP)


def _singular(word: str) -> str:
    if word.endswith("men"):
        return f"{word[:-3]}man"
    if word.endswith("wolves"):
        return f"{word[:-3]}f"
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def comparison_key(name: str) -> str:
    """Return the form in which two spellings of a name are equal."""
    return "".join(name_words(name))


class ProfileMatch(NamedTuple):
    """A profile that a name refers to."""

    profile: UnitProfile | CharacterProfile
    kind: Literal["unit", "character"]  # "unit" or "character"
    army: str  # army list of the profile
    is_sure: bool  # whether the name is the profile's name, rather than similar to it


@cache
def _profiles() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return the names of profiles by army list and form, as pairs of kind and name."""
    names = roster_names()
    short = frozenset(map(_singular, names.army_words))
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    loose: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for army in bundled_armies():
        listed = army_list(army)
        for kind, profiles, aliases in (
            ("character", listed.characters, names.characters),
            ("unit", listed.units, names.units),
        ):
            for profile in profiles:
                for each in (profile.name, *aliases.get(profile.name, ())):
                    found.setdefault((army, comparison_key(each)), []).append((kind, profile.name))
                rest = "".join(word for word in name_words(profile.name) if word not in short)
                loose.setdefault((army, rest), []).append((kind, profile.name))
    for key, names_of in loose.items():
        if key not in found and len(set(names_of)) == 1 and key[1]:
            found[key] = names_of
    return found


@cache
def _forms(army: str) -> tuple[str, ...]:
    return tuple(form for each, form in _profiles() if each == army)


def find_profile(name: str, army: str | None, *, typed: bool = True) -> ProfileMatch | None:
    """Return the profile that a roster's name refers to, or None.

    The army list `army` is searched first, if it is known. `typed` accepts mistyped names.
    """
    form = comparison_key(without_level(name))
    short = frozenset(map(_singular, roster_names().army_words))
    rest = "".join(word for word in name_words(without_level(name)) if word not in short)
    armies = [*([army] if army else []), *(each for each in bundled_armies() if each != army)]
    for each in (form, rest):
        for listed in armies:
            if each and (listed, each) in _profiles():
                return _match(_profiles()[listed, each][0], listed, is_sure=True)
    if typed and army and len(form) >= _LEAST_TYPED:
        close = get_close_matches(form[:40], _forms(army), n=1, cutoff=_SIMILAR)
        if close:
            return _match(_profiles()[army, close[0]][0], army, is_sure=False)
    return None


def _match(found: tuple[str, str], army: str, *, is_sure: bool) -> ProfileMatch:
    kind, name = found
    if kind == "unit":
        return ProfileMatch(unit_profiles()[name], "unit", army, is_sure)
    return ProfileMatch(character_profiles()[name], "character", army, is_sure)


def is_profile(name: str) -> bool:
    """Whether a name is the name of a unit or character in any army list."""
    return find_profile(name, None, typed=False) is not None


def find_army(*texts: str) -> str | None:
    """Return the army list named in the first of these texts that names one, or None."""
    for text in texts:
        words = " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])
        for army, names in roster_names().armies.items():
            if any(f" {name.casefold()} " in words for name in names):
                return army
    return None


def is_army(name: str) -> bool:
    """Whether a name is only the name of an army."""
    return any(find_name(names, name) is not None for names in roster_names().armies.values())


def level_in(name: str, number: int) -> int | None:
    """Return the wizard level in an option's name, or None.

    Args:
        name: the name, such as "Magic Level 2" or only "Level".
        number: how many of the option there are, which is the level if the name has none; 0 for an
            option whose count is not a level.
    """
    found = _LEVEL.search(name)
    if found is None:
        return None
    digit = found["n"] or found["m"]
    return int(digit) if digit else min(number, 4) or None


def without_level(name: str) -> str:
    """Return a name without a wizard level: "Wizard Lord" for "Level 4 Wizard Lord"."""
    rest = _LEVEL.sub(" ", name)
    return rest if any(c.isalpha() for c in rest) else name


def find_item(name: str) -> str | None:
    """Return the bundled item with that name, in the singular or plural, or None."""
    return _items().get(comparison_key(name))


def close_item(name: str) -> str | None:
    """Return the only bundled item whose name is a mistyped name, or None."""
    form = comparison_key(name)
    if len(form) < _LEAST_TYPED:
        return None
    close = get_close_matches(form[:40], _items(), n=1, cutoff=_SIMILAR)
    return _items()[close[0]] if close else None


@cache
def _items() -> Mapping[str, str]:
    aliases = roster_names().items
    return {
        comparison_key(each): name
        for name in bundled_items()
        for each in (name, *aliases.get(name, ()))
    }


def find_spell(name: str) -> LoreSpell | None:
    """Return the spell of a lore with that name, without its number and remarks, or None."""
    plain = re.sub(r"^\s*\d+\s*[.):]\s*|\s*[\[(].*", "", name)
    return find_lore_spell(plain) if plain else None


def lore_in(name: str, group: str = "") -> str | None:
    """Return the lore that an option of a wizard names, or None."""
    plain = re.sub(r"\s*[\[(].*", "", name).strip()
    plain = re.sub(r"\s+(?:magic|wizard|college)$|^magic of ", "", plain, flags=re.IGNORECASE)
    found = find_lore(plain) or find_name(lore_names(), plain)
    if found is not None:
        return found
    for lore, names in roster_names().lores.items():
        if lore in lore_names() and find_name(names, plain) is not None:
            return lore
    inner = re.search(r"lore of (?:the )?(\w+)", f"{name} / {group}", re.IGNORECASE)
    return find_lore(inner[1]) if inner else None


def is_lore(name: str) -> bool:
    """Whether an option's name looks like the name of a lore."""
    return _LORE.search(name) is not None


def is_heading(name: str) -> bool:
    """Whether a name has only general words, such as "Magic Items"."""
    words = set(name_words(name))
    return bool(words) and words <= _HEADING_WORDS


def dice_of(name: str) -> tuple[int, int]:
    """Return the power and dispel dice that catalogues count for an entry with that name."""
    return _dice().get(comparison_key(name), (0, 0))


@cache
def _dice() -> Mapping[str, tuple[int, int]]:
    return {comparison_key(each.name): (each.power, each.dispel) for each in roster_names().dice}


def ignored_kind(name: str, group: str = "") -> str | None:
    """Return the kind of an option that does not matter to magic, or None if it may matter."""
    words = frozenset(name_words(name))
    if words & _words(roster_names().magic_words):
        return None
    for each in roster_names().ignored:
        if words & _words(each.words):
            return each.kind
    joined = " ".join(name_words(name))
    for each in roster_names().ignored:
        if any(" " in word and " ".join(name_words(word)) in joined for word in each.words):
            return each.kind
    groups = group.casefold()
    for kind in ("magic weapon", "magic armour", "weapon rune", "armour rune", "engineering rune"):
        if kind in groups:
            return "weapons and armour"
    return None


@cache
def _words(words: Names) -> frozenset[str]:
    return frozenset(_singular(word) for word in words if " " not in word)
