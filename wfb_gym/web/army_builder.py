"""The army builder of the start page: two armies from the bundled lists, as a scenario file."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import army_list, bundled_armies
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.scenario.units import MAX_MODELS
from wfb_gym.web.army_document import (
    LARGEST,
    PHASES,
    BuiltArmy,
    BuiltUnit,
    BuiltWizard,
    casters,
    levels,
    new_army,
    new_unit,
    new_wizard,
    scenario_text,
    units,
)
from wfb_gym.web.elements import FLAT, add_text

_TITLES = "The caster's army", "The dispeller's army"
_FIRST = "empire", "orcs-and-goblins"
_ABOUT = (
    "A wizard without spells rolls them from its lore. Each army forms a line, 18 inches from the "
    "other. Positions, other characters and your own numbers: edit the file below the armies."
)


class ArmyBuilder:
    """Fields for two armies; `text` is the scenario file, which may be edited.

    Args:
        forget_error: called after every change.
    """

    def __init__(self, forget_error: Callable[[], Any]) -> None:
        self._forget_error = forget_error
        self._armies = [new_army(each) for each in _FIRST]
        self._phases = 2
        add_text(_ABOUT, "p", "about")
        ui.select(
            list(PHASES), value=self._phases, label="Magic phases", on_change=self._set_phases
        ).classes("narrow")
        self._boxes = []
        for seat, title in enumerate(_TITLES):
            with ui.element("section").classes(f"built a{seat}"):
                add_text(title, "h3")
                self._boxes.append(ui.element("div").classes("stack"))
        with ui.element("details").classes("file"):
            add_text("Scenario file of these armies (TOML)", "summary")
            self._text = ui.textarea(
                label="Scenario file, edited or pasted", on_change=forget_error
            ).props("rows=14 outlined")
        for seat in range(len(_TITLES)):
            self._show(seat)
        self._write()

    @property
    def text(self) -> str:
        """The scenario file."""
        return self._text.value or ""

    def _write(self) -> None:
        self._text.value = scenario_text(self._armies, self._phases)
        self._forget_error()

    def _set_phases(self, event: Any) -> None:
        self._phases = event.value
        self._write()

    def _change(self, seat: int, army: BuiltArmy) -> None:
        self._armies[seat] = army
        self._show(seat)
        self._write()

    def _show(self, seat: int) -> None:
        """Show the fields of an army."""
        built, box = self._armies[seat], self._boxes[seat]
        box.clear()
        with box:
            ui.select(
                {each: army_list(each).name for each in bundled_armies()},
                value=built.army, label="Army list",
                on_change=lambda event: self._change(seat, new_army(event.value)),
            ).classes("narrow")  # fmt: skip
            for wizard in built.wizards:
                self._show_wizard(seat, built, wizard)
            for unit in built.units:
                self._show_unit(seat, built, unit)
            with ui.element("div").classes("tools"):
                self._add_button(seat, "Add a wizard" if built.army != "dwarfs" else "Add a smith")
                self._add_button(seat, "Add a unit")

    def _add_button(self, seat: int, words: str) -> None:
        built = self._armies[seat]
        rows: list[Any] = built.units if words == "Add a unit" else built.wizards
        kind = "units" if rows is built.units else "wizards"

        def add() -> None:
            is_unit = kind == "units"
            rows.append(new_unit(built.army, len(rows)) if is_unit else new_wizard(built.army))
            self._change(seat, built)

        button = ui.button(words, on_click=add).props(FLAT)
        button.set_enabled(len(rows) < LARGEST[kind])

    def _show_wizard(self, seat: int, built: BuiltArmy, wizard: BuiltWizard) -> None:
        profiles = casters(built.army)
        profile = profiles[wizard.profile]
        with ui.element("div").classes("entry wizard-entry"):
            self._select(seat, wizard, "profile", list(profiles), "Wizard", is_new=True)
            if levels(profile):
                self._select(seat, wizard, "level", levels(profile), "Level")
                self._select(seat, wizard, "lore", list(profile.lores), "Lore", is_new=True)
                spells = [each.name for each in lore_spells() if each.lore == wizard.lore]
                self._select(seat, wizard, "spells", spells, "Spells").props("clearable")
            items = list(bundled_items())
            self._select(seat, wizard, "items", items, "Items").props("clearable")
            places = {-1: "alone"} | {k: each.profile for k, each in enumerate(built.units)}
            self._select(seat, wizard, "unit", places, "In unit")
            self._remove_button(seat, built.wizards, wizard, wizard.profile)

    def _show_unit(self, seat: int, built: BuiltArmy, unit: BuiltUnit) -> None:
        with ui.element("div").classes("entry unit-entry"):
            self._select(seat, unit, "profile", list(units(built.army)), "Unit", is_new=True)

            def count(event: Any) -> None:
                if event.value is not None and 1 <= event.value <= MAX_MODELS:
                    unit.models = int(event.value)
                    self._write()

            ui.number(
                label="Models", value=unit.models, min=1, max=MAX_MODELS, precision=0,
                on_change=count,
            )  # fmt: skip
            self._remove_button(seat, built.units, unit, unit.profile)

    def _select(
        self,
        seat: int,
        row: BuiltWizard | BuiltUnit,
        key: str,
        options: Any,
        label: str,
        *,
        is_new: bool = False,
    ) -> ui.select:
        """Add a field for an attribute; `is_new` if it changes the row's other fields."""
        built = self._armies[seat]
        value = getattr(row, key)

        def change(event: Any) -> None:
            setattr(row, key, event.value or [] if isinstance(value, list) else event.value)
            if is_new:
                _reset(built.army, row, key)
                self._show(seat)
            self._write()

        several = isinstance(value, list)
        return ui.select(options, value=value, label=label, multiple=several, on_change=change)

    def _remove_button(self, seat: int, rows: list[Any], row: Any, name: str) -> None:
        def remove() -> None:
            built = self._armies[seat]
            if rows is built.units:
                gone = next(k for k, each in enumerate(rows) if each is row)
                for wizard in built.wizards:
                    wizard.unit -= (wizard.unit == gone) * (gone + 1) or wizard.unit > gone
            rows[:] = [each for each in rows if each is not row]
            self._change(seat, built)

        button = ui.button(icon="close", on_click=remove)
        button.props(f'flat dense round aria-label="remove {name}"')


def _reset(army: str, row: BuiltWizard | BuiltUnit, key: str) -> None:
    """Set the attributes that depend on the changed one."""
    if isinstance(row, BuiltUnit):
        profile = units(army)[row.profile]
        row.models = max(profile.min_models, min(row.models, profile.max_models))
        return
    caster = casters(army)[row.profile]
    if key == "profile":
        row.level = max(levels(caster), default=1)
        if row.lore not in caster.lores:
            row.lore, row.spells = caster.lores[0] if caster.lores else "", []
    else:
        row.spells = []
