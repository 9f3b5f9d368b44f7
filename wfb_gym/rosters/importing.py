"""Mapping of a roster's entries to an army of a scenario, with a report of every entry."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wfb_gym.rosters import names
from wfb_gym.rosters.names import ProfileMatch
from wfb_gym.rosters.roster import Roster, RosterEntry, clean_name
from wfb_gym.scenario.fields import MAX_NAME
from wfb_gym.scenario.items import BEARER_FIELDS, bundled_items
from wfb_gym.scenario.profiles import (
    CharacterProfile,
    UnitProfile,
    army_list,
    character_profiles,
    unit_profiles,
)
from wfb_gym.scenario.sizes import ITEMS, MAX_POINTS, UNITS, WIZARDS
from wfb_gym.scenario.spells import LoreSpell, lore_names, lore_spells
from wfb_gym.scenario.units import MAX_MODELS
from wfb_gym.suggestions import close_names

Status = Literal["mapped", "ignored", "unknown", "left out"]
_SUGGESTED = 40  # number of unknown names that get suggestions; each takes a few milliseconds
_MOST_COPIES = 4
_LEVELS = (1, 2, 3, 4)
_ADD_UNIT = "if it matters, add it with its Toughness, Wounds, Leadership and points"
_DWARFS = "dwarfs"
_PRAYER = "Prayer: "  # start of the names of prayers, which are bound spells
_PRINTED = 6  # a list that names this many spells of a wizard prints the whole lore


class ImportedEntry(NamedTuple):
    """The result for one entry of a roster.

    Attributes:
        entry: name and count as written.
        owner: name of the unit or character it belongs to, or "".
        status: whether it was mapped, ignored, not understood, or left out for lack of space.
        result: the part of the scenario, the reason, or a suggestion.
    """

    entry: str
    owner: str
    status: Status
    result: str


@dataclass
class ImportedArmy:
    """An army as tables for a scenario document.

    Attributes:
        name: name for display.
        army: its army list in ``data/armies``, or None if unknown.
        ruleset: "6e" or "7e".
        points: its cost according to the roster.
        wizards: tables of the wizards.
        runesmiths: tables of the Runesmiths and Runelords.
        heroes: tables of the fighting characters.
        units: tables of the units.
        items: items of the army itself.
        own_items: tables of items for the roster's dice and for several prayers of a character.
        findings: the result for every entry.
    """

    name: str
    army: str | None
    ruleset: Literal["6e", "7e"] = "6e"
    points: float = 0.0
    wizards: list[dict[str, Any]] = field(default_factory=list)
    runesmiths: list[dict[str, Any]] = field(default_factory=list)
    heroes: list[dict[str, Any]] = field(default_factory=list)
    units: list[dict[str, Any]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    own_items: list[dict[str, Any]] = field(default_factory=list)
    findings: list[ImportedEntry] = field(default_factory=list)

    @property
    def is_dwarf(self) -> bool:
        """Whether it has the base dispel dice of a Dwarf army."""
        return self.army == _DWARFS

    @property
    def characters(self) -> Iterator[dict[str, Any]]:
        """Yield the tables of all characters."""
        yield from (*self.wizards, *self.runesmiths, *self.heroes)

    def count(self, status: Status) -> int:
        """Return the number of entries with that status."""
        return sum(each.status == status for each in self.findings)


def map_roster(roster: Roster) -> ImportedArmy:
    """Map a roster to an army.

    Nothing is dropped silently: every entry has a finding.
    """
    mapper = _Mapper(roster)
    for entry in roster.entries:
        mapper.add(entry, "")
    mapper.finish()
    return mapper.army


class _Options(NamedTuple):
    """The meaning of the options of a unit or character."""

    levels: list[int]
    lores: list[str]
    spells: list[LoreSpell]
    items: list[str]
    is_general: list[bool]


class _Mapper:
    """Builds an army entry by entry."""

    def __init__(self, roster: Roster) -> None:
        about = roster.army, roster.name, roster.system
        found = names.find_army(*about) or _army_of_entries(roster)
        self.army = ImportedArmy(
            name=roster.name or roster.army or "Army",
            army=found,
            ruleset="7e" if _is_seventh(roster) else "6e",
            points=roster.points or sum(each.total for each in roster.entries),
        )
        self._suggested = 0
        self._taken: dict[str, int] = {}  # names of units and characters, with their last number
        for note in roster.notes:
            self._report(RosterEntry(note), "", "ignored", "not an entry of the list")

    # --- units and characters ------------------------------------------------------------------

    def add(self, entry: RosterEntry, owner: str) -> None:
        """Add a unit or character with everything below it."""
        match = self._find(entry)
        if match is None and not entry.kind:
            match, entry = self._found_below(entry)
        if match is not None and isinstance(match.profile, CharacterProfile):
            self._character(entry, match.profile, match)
        elif match is not None and isinstance(match.profile, UnitProfile):
            self._unit(entry, match.profile, match)
        elif _is_wizard(entry) or (entry.characteristics and _is_character(entry)):
            self._character(entry, None, None)
        elif entry.characteristics or any(each.characteristics for each in _models(entry)):
            self._unit(entry, None, None)
        elif entry.kind == "upgrade" or (_is_container(entry) and not _has_level(entry)):
            self._wrapper(entry, owner)
        else:
            kind = names.ignored_kind(entry.name, entry.group)
            if kind is not None and not entry.total:
                self._report(entry, owner, "ignored", kind)
            else:
                self._unknown(entry, owner, _ADD_UNIT, self._known())
            start = len(self.army.findings)
            self._options(entry, "wizard" if _has_level(entry) else None)
            for i, each in enumerate(self.army.findings[start:], start):
                if each.status == "mapped":
                    lost = each._replace(status="left out", result="its bearer was not added")
                    self.army.findings[i] = lost

    def _find(self, entry: RosterEntry) -> ProfileMatch | None:
        match = names.find_profile(entry.name, self.army.army)
        if match is None or (match.army != self.army.army and not match.is_sure):
            return None
        return match

    def _found_below(self, entry: RosterEntry) -> tuple[ProfileMatch | None, RosterEntry]:
        """Find the profile in the words or the options of a line of text."""
        words = entry.name.split()
        for cut in range(1, min(3, len(words))):
            for head, rest in ((words[:-cut], words[-cut:]), (words[cut:], words[:cut])):
                below = RosterEntry(" ".join(rest))
                is_option = names.ignored_kind(below.name) or names.lore_in(below.name)
                match = names.find_profile(" ".join(head), self.army.army, typed=False)
                if match is not None and is_option:
                    return match, _with(entry, " ".join(head), (below, *entry.entries))
        for option in entry.entries:
            match = names.find_profile(option.name, self.army.army, typed=False)
            if match is not None and match.kind == "character":
                others = tuple(each for each in entry.entries if each is not option)
                return match, _with(entry, option.name, (RosterEntry(entry.name), *others))
        return None, entry

    def _known(self) -> list[str]:
        if self.army.army is not None:
            listed = army_list(self.army.army)
            return [*(each.name for each in listed.characters), *(u.name for u in listed.units)]
        return [*character_profiles(), *unit_profiles()]

    def _wrapper(self, entry: RosterEntry, owner: str) -> None:
        """Add the units inside an entry that is not one itself."""
        kind = names.ignored_kind(entry.name, entry.group)
        is_rule = not entry.total and not entry.power_dice + entry.dispel_dice
        if is_rule or entry.entries or kind is not None:
            self._report(entry, owner, "ignored", kind or "a heading or a rule of the list")
            for each in entry.entries:
                self.add(each, entry.name)
            return
        self._unknown(entry, owner, _ADD_UNIT, self._known())

    def _character(
        self, entry: RosterEntry, profile: CharacterProfile | None, match: ProfileMatch | None
    ) -> None:
        copies = min(entry.number, _MOST_COPIES)
        kind = "wizard" if profile is None and _is_wizard(entry) else "hero"
        kind = kind if profile is None else profile.kind
        start = len(self.army.findings)
        options = self._options(entry, kind)
        table: dict[str, Any] = {"name": clean_name(names.without_level(entry.name))}
        if profile is not None:
            table["profile"] = profile.name
        else:
            table |= _numbers(entry.characteristics)
        said = [f"{kind}{'' if profile is None else f', profile {profile.name}'}"]
        if match is not None and not match.is_sure:
            said.append("a similar name")
        is_general = any(options.is_general)
        if is_general and any(each.get("general") for each in self.army.characters):
            is_general = False
            self._report(entry, "", "left out", "the general, as the army already has one")
        if kind == "wizard":
            said += self._magic(table, entry, profile, options)
        if entry.total:
            table["points"] = min(round(entry.total / entry.number, 2), MAX_POINTS)
        elif profile is not None and isinstance(profile.points, dict):
            levels = sorted(profile.points)
            if str(table["level"]) not in levels:
                table["points"] = profile.points[levels[-1]]
        elif profile is None:
            table["points"] = 100.0
        items = self._one_bound_item(entry.name, options.items)
        if items:
            table["items"] = items
        if any(each.startswith("Prayers: ") for each in items):
            said.append("one of its prayers in each phase")
        for copy in range(copies):
            self._place({"general": True, **table} if is_general and not copy else table, kind)
        self._report(entry, "", "mapped", ", ".join(said), start)
        if entry.number > copies:
            self._report(entry, "", "left out", f"only {copies} of the {entry.number} were added")

    def _magic(
        self,
        table: dict[str, Any],
        entry: RosterEntry,
        profile: CharacterProfile | None,
        options: _Options,
    ) -> list[str]:
        """Add a wizard's level and its lore or spells; return them in words."""
        of_profile = (
            sorted(map(int, profile.points))
            if profile is not None and isinstance(profile.points, dict)
            else [1]
        )
        written = [each for each in (names.level_in(entry.name, 0), *options.levels) if each]
        level = max(written) if written else entry.power_dice
        said = []
        if level not in _LEVELS:
            level = of_profile[0]
            is_only = len(of_profile) == 1
            said.append(f"level {level}{'' if is_only else ' assumed, as the list names none'}")
        else:
            said.append(f"level {level}")
        table["level"] = level
        spells = list(dict.fromkeys(spell.name for spell in options.spells))
        lores = [*options.lores, *(spell.lore for spell in options.spells)]
        own = names.lore_in(entry.name)
        lores += [own] if own is not None else []
        if spells and len(spells) < _PRINTED:
            table["spells"] = spells
            said.append(f"spells {', '.join(spells)}")
        elif lores:
            table["lore"] = lores[0]
            said.append(f"lore {lores[0]}")
        elif profile is not None and profile.name in names.roster_names().spells:
            table["spells"] = list(names.roster_names().spells[profile.name])
            said.append(f"spells {', '.join(table['spells'])}, the only ones of its profile")
        else:
            usual = [each for each in (profile.lores if profile else ()) if each in lore_names()]
            table["lore"] = usual[0] if usual else lore_names()[0]
            table["assumed_lore"] = True
            said.append(f"lore {table['lore']} assumed, as the list names none of the data's lores")
        return said

    def _place(self, table: dict[str, Any], kind: str) -> None:
        lists = {
            "wizard": self.army.wizards,
            "runesmith": self.army.runesmiths,
            "runelord": self.army.runesmiths,
        }
        own = {**table}
        if kind in ("runesmith", "runelord") and "profile" not in own:
            own["rank"] = kind
        own["name"] = self._unique(own["name"])
        lists.get(kind, self.army.heroes).append(own)

    def _unit(
        self, entry: RosterEntry, profile: UnitProfile | None, match: ProfileMatch | None
    ) -> None:
        models = _models(entry)
        count = sum(each.number for each in models) if models else entry.number
        start = len(self.army.findings)
        options = self._options(entry, None)
        table: dict[str, Any] = {"name": self._unique(entry.name)}
        said = [f"unit of {count}"]
        if profile is not None:
            table["profile"] = profile.name
            said[0] += f", profile {profile.name}"
        else:
            found = next((each.characteristics for each in (entry, *models)
                          if each.characteristics), {})  # fmt: skip
            table |= _numbers(found)
            said.append("no profile: Toughness, Wounds and Leadership from the roster")
        table["models"] = max(1, min(count, MAX_MODELS))
        points = entry.total - sum(each.total for each in _nested_units(entry))
        if points > 0 and count:
            table["points"] = min(round(points / count, 2), MAX_POINTS)
        elif profile is None:
            table["points"] = 10.0
        if match is not None and not match.is_sure:
            said.append("a similar name")
        self.army.items += options.items
        self.army.units.append(table)
        self._report(entry, "", "mapped", ", ".join(said), start)
        for nested in _nested_units(entry):
            self.add(nested, entry.name)

    def _unique(self, name: str) -> str:
        number, unique = self._taken.get(name, 1), name
        while unique in self._taken:
            number += 1
            unique = f"{name} {number}"
        self._taken[name] = number
        self._taken.setdefault(unique, 1)
        return unique

    # --- options -------------------------------------------------------------------------------

    def _options(self, entry: RosterEntry, kind: str | None) -> _Options:
        """Report all options of a unit (kind None) or character and return their meaning."""
        options = _Options([], [], [], [], [])
        for below in entry.entries:
            self._option(below, entry, kind, options)
        added = entry.power_dice, entry.dispel_dice
        if kind in ("wizard", "runesmith", "runelord"):
            added = 0, 0  # these dice belong to its level or rank
        elif not any(added) and kind == "hero":
            added = names.dice_of(entry.name)
        if any(added):
            self._dice(entry, entry, added, options)
        return options

    def _option(
        self, option: RosterEntry, owner: RosterEntry, kind: str | None, found: _Options
    ) -> None:
        if option.kind == "unit" and kind is None:
            return  # a detachment, which `_unit` adds
        name, who = option.name, owner.name
        if option.kind == "model" or (kind is None and option in _models(owner)):
            self._report(option, who, "mapped", "counted as models of the unit")
        elif names.comparison_key(name) in ("general", "armygeneral") or name.lower() == "general":
            found.is_general.append(True)
            self._report(option, who, "mapped", "the general; its dice are the army's base dice")
        else:
            self._choice(option, owner, kind, found)
        for below in option.entries:
            self._option(below, owner, kind, found)

    def _choice(
        self, option: RosterEntry, owner: RosterEntry, kind: str | None, found: _Options
    ) -> None:
        """Report an option that may matter to magic."""
        name, who = option.name, owner.name
        item = self._item(option)
        dice = option.power_dice, option.dispel_dice
        counted = option.number if option.kind and not option.entries else 0
        level = names.level_in(name, counted) if kind == "wizard" else None
        spell = names.find_spell(name) if kind == "wizard" else None
        lore = names.lore_in(name, option.group) if kind == "wizard" else None
        if level is not None:
            found.levels.append(level)
            self._report(option, who, "mapped", f"level {level}")
        elif spell is not None:
            found.spells.append(spell)
            self._report(option, who, "mapped", f"spell {spell.name} of {spell.lore}")
        elif item is not None:
            self._carried(option, item, owner, kind, found)
        elif lore is not None:
            found.lores.append(lore)
            self._report(option, who, "mapped", f"lore {lore}")
        elif _is_container(option):
            self._report(option, who, "ignored", "a heading")
        elif any(dice):
            self._dice(option, owner, dice, found)
        elif any(names.dice_of(name)):
            self._dice(option, owner, names.dice_of(name), found)
        elif kind == "hero" and names.level_in(name, 0) is not None:
            self._unknown(option, who, "its profile is no wizard; write it as one in the file", ())
        elif kind == "wizard" and names.is_lore(name):
            self._unknown(option, who, "list its spells in the file", lore_names())
        else:
            why = names.ignored_kind(name, option.group)
            if why is not None:
                self._report(option, who, "ignored", why)
            else:
                known = [*bundled_items(), *(spell.name for spell in lore_spells())]
                self._unknown(option, who, "if it matters to magic, write it as [[items]]", known)

    def _item(self, option: RosterEntry) -> str | None:
        item = names.find_item(option.name) or names.close_item(option.name)
        if item is not None and any(names.find_item(each.name) == item for each in option.entries):
            return None  # a heading above the item itself
        return item

    def _carried(
        self, option: RosterEntry, item: str, owner: RosterEntry, kind: str | None, found: _Options
    ) -> None:
        data = bundled_items()[item]
        needs_wizard = any(getattr(data, key) for key in BEARER_FIELDS)
        if (needs_wizard and kind != "wizard") or (data.bound is not None and kind is None):
            why = f"{item}, which only a wizard can use here"
            self._report(option, owner.name, "left out", why)
            return
        copies = min(option.number, _MOST_COPIES)
        found.items.extend([item] * copies)
        times = f", {copies} of it" if copies > 1 else ""
        self._report(option, owner.name, "mapped", f"item {item}{times}")

    def _one_bound_item(self, owner: str, items: list[str]) -> list[str]:
        """Leave a character one item with bound spells; several prayers are one item."""
        bundled = bundled_items()
        bound = [each for each in items if each in bundled and bundled[each].bound is not None]
        prayers = [each for each in bundled if each in bound and each.startswith(_PRAYER)]
        kept = bound[:1]
        if len(prayers) > 1:
            kept = [self._joint_prayers(prayers)]
            bound = [each for each in bound if each not in prayers]
        elif bound:
            bound = bound[1:]
        for each in bound:
            self._leave_out(each, "a character has at most one item with bound spells", owner)
        return [*kept, *(each for each in items if each not in (*prayers, *kept, *bound))]

    def _joint_prayers(self, prayers: list[str]) -> str:
        """Add an item with several prayers, one of which is used in each phase; return its name."""
        bound = [bundled_items()[each].bound for each in prayers]
        dumped = [each.model_dump(mode="json", exclude_unset=True) for each in bound if each]
        name = f"Prayers: {', '.join(each.removeprefix(_PRAYER) for each in prayers)}"
        own = {
            "name": name,
            "bound": {
                "power_level": dumped[0]["power_level"],
                "spells": [each["spell"] for each in dumped],
            },
        }
        if own not in self.army.own_items:
            self.army.own_items.append(own)
        return name

    def _dice(
        self, option: RosterEntry, owner: RosterEntry, dice: tuple[int, int], found: _Options
    ) -> None:
        """Add dice that no bundled item gives, as an item of the scenario's own."""
        power, dispel = (min(each, _MOST_COPIES) for each in dice)
        said = " and ".join(
            f"{n} {of} {'die' if n == 1 else 'dice'}"
            for n, of in ((power, "power"), (dispel, "dispel")) if n
        )  # fmt: skip
        # Items of both armies with the same name are one item, so the name has the dice.
        base = option.name if option is owner else f"{option.name} of {owner.name}"
        name = f"{base[: MAX_NAME - len(said) - 3].rstrip()} ({said})"
        own: dict[str, Any] = {"name": name}
        own |= {"power_dice": power} if power else {}
        own |= {"dispel_dice": dispel} if dispel else {}
        if own not in self.army.own_items:
            self.army.own_items.append(own)
        found.items.append(name)
        said = f"{said} a phase"
        self._report(option, "" if option is owner else owner.name, "mapped", said)

    # --- report and limits ---------------------------------------------------------------------

    def _report(
        self, entry: RosterEntry, owner: str, status: Status, result: str, place: int | None = None
    ) -> None:
        """Add a finding, at the end or at a place in the list."""
        count = f"{entry.number} " if entry.number > 1 else ""
        found = ImportedEntry(f"{count}{entry.name}", owner, status, result)
        self.army.findings.insert(len(self.army.findings) if place is None else place, found)

    def _unknown(self, entry: RosterEntry, owner: str, advice: str, known: Iterable[str]) -> None:
        """Report a name that the data lacks, with similar names and a suggestion."""
        close: list[str] = []
        if self._suggested < _SUGGESTED:
            self._suggested += 1
            close = close_names(known, entry.name)
        question = f" (did you mean {' or '.join(close)}?)" if close else ""
        self._report(entry, owner, "unknown", f"not in the data{question}: {advice}")

    def finish(self) -> None:
        """Shrink the army to the sizes of a scenario, leaving out the least important first."""
        army = self.army
        plain = [each for each in army.heroes if not each.get("items")]
        carrying = [each for each in army.heroes if each.get("items")]
        ordered = [*army.wizards, *army.runesmiths, *carrying, *plain]
        for each in reversed(ordered[WIZARDS:]):
            self._leave_out(each["name"], f"the game has at most {WIZARDS} characters in an army")
        kept = {each["name"] for each in ordered[:WIZARDS]}
        for tables in (army.wizards, army.runesmiths, army.heroes):
            tables[:] = [each for each in tables if each["name"] in kept]
        cheapest = sorted(army.units, key=_cost)[: max(0, len(army.units) - UNITS)]
        for each in cheapest:
            self._leave_out(each["name"], f"the game has at most {UNITS} units in an army")
        names_left = {each["name"] for each in cheapest}
        army.units[:] = [each for each in army.units if each["name"] not in names_left]
        self._limit_items()

    def _limit_items(self) -> None:
        """Leave out kinds of item beyond the limit, counted by bearer."""
        kinds = 0
        catalogue = bundled_items()
        for owner in (*self.army.characters, {"name": "", "items": self.army.items}):
            for item in dict.fromkeys(owner.get("items", ())):
                if item in catalogue and not catalogue[item].needs_slot:
                    continue
                kinds += 1
                if kinds > ITEMS:
                    owner["items"][:] = [each for each in owner["items"] if each != item]
                    self._leave_out(item, f"the game has at most {ITEMS} kinds of item in an army")
        used = Counter(each for owner in self.army.characters for each in owner.get("items", ()))
        used.update(self.army.items)
        self.army.own_items = [each for each in self.army.own_items if used[each["name"]]]

    def _leave_out(self, name: str, why: str, owner: str = "") -> None:
        self.army.findings.append(ImportedEntry(name, owner, "left out", why))


def _with(entry: RosterEntry, name: str, entries: tuple[RosterEntry, ...]) -> RosterEntry:
    return RosterEntry(name, entry.number, entry.kind, entry.points, entry.power_dice,
                 entry.dispel_dice, entry.group, entry.characteristics, entries)  # fmt: skip


def _is_seventh(roster: Roster) -> bool:
    text = f"{roster.system} {roster.army} {roster.name}".casefold()
    return any(word in text for word in ("7th", "7e", "seventh", "8th", "8e"))


def _army_of_entries(roster: Roster) -> str | None:
    """Return the army list that most entries belong to."""
    counts: Counter[str] = Counter()
    for entry in roster.entries:
        match = names.find_profile(entry.name, None, typed=False)
        if match is not None:
            counts[match.army] += 1
    return counts.most_common(1)[0][0] if counts else None


def _is_character(entry: RosterEntry) -> bool:
    return any(word in entry.group.casefold() for word in ("lord", "hero", "character"))


def _is_wizard(entry: RosterEntry) -> bool:
    """Whether an entry without a profile is a wizard: it has a level or casting dice."""
    if entry.power_dice:
        return True
    options = [each for each in entry.walk() if each is not entry]
    return _is_character(entry) and any(names.level_in(each.name, 1) for each in options)


def _has_level(entry: RosterEntry) -> bool:
    """Whether the name or an option of an entry is a wizard level."""
    return any(names.level_in(each.name, 0) is not None for each in entry.walk())


def _is_container(option: RosterEntry) -> bool:
    """Whether an option is only a heading: it costs nothing and has options or a general name."""
    if option.points or option.power_dice or option.dispel_dice:
        return False
    return bool(option.entries) or names.is_heading(option.name)


def _models(unit: RosterEntry) -> list[RosterEntry]:
    """Return the entries that count a unit's models."""
    inside = [each for each in _below(unit) if each.kind == "model"]
    if inside:
        most = max(inside, key=lambda each: each.number)
        return [
            each for each in inside
            if each is most or names.ignored_kind(each.name, each.group) is None
        ]  # fmt: skip
    if unit.kind or unit.number > 1:
        return []
    own = set(names.name_words(unit.name))
    several = [each for each in unit.entries if each.number > 1 and each.kind != "unit"]
    same = [each for each in several if own & set(names.name_words(each.name))]
    return same[:1] or [
        each for each in several[:1]
        if names.find_item(each.name) is None and names.ignored_kind(each.name) is None
    ]  # fmt: skip


def _below(unit: RosterEntry) -> Iterator[RosterEntry]:
    """Yield the entries below a unit, except for units inside it and their entries."""
    for each in unit.entries:
        if each.kind != "unit":
            yield each
            yield from _below(each)


def _nested_units(unit: RosterEntry) -> Iterator[RosterEntry]:
    for each in unit.entries:
        if each.kind == "unit":
            yield each
        else:
            yield from _nested_units(each)


def _numbers(found: dict[str, int]) -> dict[str, Any]:
    """Return the numbers of a model without a profile, from the roster's characteristics."""
    save = found.get("SV", found.get("AS", 0))
    table: dict[str, Any] = {
        "toughness": min(max(found.get("T", 3), 1), 10),
        "wounds": min(max(found.get("W", 1), 1), 10),
        "leadership": min(max(found.get("LD", 7), 2), 10),
    }
    return table | ({"armour_save": save} if 1 <= save <= 6 else {})


def _cost(unit: dict[str, Any]) -> float:
    profile = unit_profiles().get(unit.get("profile", ""))
    points = unit.get("points", 0.0 if profile is None else profile.points)
    return float(points * unit["models"])
