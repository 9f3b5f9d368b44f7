"""The import of army lists on the start page: pasted or uploaded lists, as a scenario file."""

from collections.abc import Callable
from typing import Any

from nicegui import events, run, ui

from wfb_gym.render.html import render_macro
from wfb_gym.rosters import (
    MAX_BYTES,
    ImportResult,
    Roster,
    RosterError,
    import_report,
    import_roster,
    read_roster,
)
from wfb_gym.seats import SEATS
from wfb_gym.web.elements import OUTLINED, add_text

_ABOUT = (
    "Paste a list from New Recruit, BattleScribe or another list builder, or upload its file "
    "(.ros, .rosz, .json, .txt). Without a list of the enemy, you play against a typical army of "
    "about as many points."
)
_EXAMPLE = """\
Empire 2000 pts
1 Battle Wizard Lord, level 4, Lore of Fire, Dispel Scroll, 235 pts
25 Swordsmen, full command, 200 pts"""
_MOST_PASTED = 2**17
"""Maximum length of a pasted list, in characters; the server rejects larger socket messages."""
_FIELDS = "Your army list", "The enemy's list, if known"
_FILES = ".ros,.rosz,.json,.txt"


class ListImport:
    """Fields for the lists of both sides; `text` is the scenario file, which may be edited.

    Args:
        forget_error: called after every change.
        show_error: called with a message if a list cannot be read.
        choose_seat: called with the seat of the player's army, "caster" or "dispeller".
    """

    def __init__(
        self,
        forget_error: Callable[[], Any],
        show_error: Callable[[str], Any],
        choose_seat: Callable[[str], Any],
    ) -> None:
        self._forget_error, self._show_error = forget_error, show_error
        self._choose_seat = choose_seat
        self._uploads: dict[int, tuple[str, Roster]] = {}
        add_text(_ABOUT, "p", "about")
        self._lists = []
        for side, label in enumerate(_FIELDS):
            with ui.element("div").classes("list"):
                field = ui.textarea(label=label, placeholder="" if side else _EXAMPLE)
                field.props(f"rows={4 if side else 8} outlined maxlength={_MOST_PASTED}")
                field.on_value_change(self._changed)
                self._lists.append(field)
                self._add_upload(side)
        with ui.element("div").classes("tools"):
            ui.button("Read the list", on_click=self.read).props(OUTLINED)
        self._report = ui.html("", sanitize=False)
        with ui.element("details").classes("file") as file:
            add_text("Scenario file of these armies (TOML)", "summary")
            self._text = ui.textarea(label="Scenario file, edited", on_change=forget_error)
            self._text.props("rows=14 outlined")
        file.bind_visibility_from(self._report, "content", backward=bool)

    async def scenario_text(self) -> str:
        """Return the scenario file, after reading the list if it has changed.

        Raises:
            ValueError: if a list cannot be read.
        """
        if not self._report.content:
            await self._import()
        return self._text.value or ""

    async def read(self) -> None:
        """Read the lists, and show the report or an error."""
        self._forget_error()
        try:
            await self._import()
        except ValueError as error:
            self._show_error(str(error))

    def _add_upload(self, side: int) -> None:
        async def read(event: events.UploadEventArguments) -> None:
            upload.reset()  # so that the same file can be chosen again once corrected
            await self._read_file(side, event)

        def reject() -> None:
            self._show_error(f"{_FIELDS[side]}: expected at most {MAX_BYTES:,} bytes")

        upload = ui.upload(
            label=f"or a file ({_FILES.replace(',', ', ')})", max_file_size=MAX_BYTES,
            auto_upload=True, on_upload=read, on_rejected=reject,
        ).props(f"accept={_FILES} flat bordered").style("width: 100%")  # fmt: skip

    async def _read_file(self, side: int, event: events.UploadEventArguments) -> None:
        name, data = event.file.name, await event.file.read()
        self._forget_error()
        try:
            roster = await run.io_bound(read_roster, data, name.rpartition(".")[0])
        except RosterError as error:
            self._show_error(f"{name}: {error}")
            return
        if roster is None:  # the server is shutting down
            return
        self._uploads[side] = name, roster
        self._lists[side].value = f"(file {name})"
        if 0 in self._uploads or self._lists[0].value:
            await self.read()

    def _changed(self) -> None:
        self._report.set_content("")
        self._forget_error()

    def _roster(self, side: int) -> Roster | None:
        text = (self._lists[side].value or "").strip()
        if side in self._uploads and text == f"(file {self._uploads[side][0]})":
            return self._uploads[side][1]
        if not text:
            return None
        try:
            return read_roster(text.encode(errors="replace"), "pasted-list")
        except RosterError as error:
            raise ValueError(f"{_FIELDS[side]}: {error}") from error

    async def _import(self) -> None:
        def convert() -> ImportResult:
            own = self._roster(0)
            if own is None:
                raise ValueError(f"{_FIELDS[0]}: expected a list, found none")
            try:
                return import_roster(own, self._roster(1))
            except RosterError as error:
                raise ValueError(f"{_FIELDS[0]}: {error}") from error

        result = await run.io_bound(convert)
        if result is None:  # the server is shutting down
            return
        self._text.value = result.toml
        self._choose_seat(result.side)
        reports = [import_report(result.army.findings), import_report(result.enemy.findings)]
        values = result.army.name, result.side, result.opponent, SEATS.index(result.side), reports
        self._report.set_content(render_macro("imported", *values, template="web.html"))
