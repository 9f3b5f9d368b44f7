"""The form that starts a game."""

import json
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import events, run, ui

from wfb_gym.advising.request import PositionRequest
from wfb_gym.files import NOT_UTF8
from wfb_gym.render.html import render_macro
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.seats import SEATS
from wfb_gym.transcripts import position_from_id
from wfb_gym.web.army_builder import ArmyBuilder
from wfb_gym.web.elements import FLAT, add_text, set_text, set_title, waiting
from wfb_gym.web.list_import import ListImport
from wfb_gym.web.scenario_cards import scenario_cards
from wfb_gym.web.session import (
    MOST_WIZARDS,
    OPPONENTS,
    Setup,
    describe_opponent,
    describe_scenario,
    describe_seat,
)

_BUNDLED, _IMPORT, _ARMIES, _OWN, _LISTS, _POSITION = _KINDS = (
    "Bundled", "Army list", "Army builder", "Own file", "Wizards", "Position",
)  # fmt: skip
_OWN_BATTLES = {
    _IMPORT: "your army list",
    _ARMIES: "your armies",
    _OWN: "your scenario",
    _LISTS: "your wizards",
    _POSITION: "a shared position",
}
_NAMES = (*bundled_scenarios(), *hidden_scenarios())
_INTRODUCTION = (
    "Play one side of a battle's magic phase. Choose a battle, your side and an opponent; "
    "the choices that are already made are a good first game."
)
_ABOUT_POSITIONS = (
    "An id from Share in a game, or from the commands share and advise. The battle continues from "
    "there. Such a game has no review."
)
_SEED = "The same seed and decisions give the same battle. Empty: a random seed."
_LONG_START = (
    "The first game on a machine compiles the rules, for half a minute or more; "
    "an optimal opponent solves the scenario before it plays."
)


class Form:
    """The form for starting a game: scenario, seat, opponent and seed.

    Args:
        start: starts a game and returns the error message, or "".
        show_games: adds the earlier games below the title.
    """

    def __init__(
        self, start: Callable[[Setup], Awaitable[str]], show_games: Callable[[], None]
    ) -> None:
        self._start = start
        self._scenario = "archmage-duel"
        self._wizards: list[tuple[ui.select, ui.input]] = []
        with ui.element("div").classes("form") as root:
            set_title(root, "New game - wfb_gym")
            with ui.element("div"):
                add_text("The magic phase, at your table", "h1")
                add_text(_INTRODUCTION, "p", "about")
            show_games()
            with ui.element("section").classes("card"):
                add_text("Battle", "h2")
                self._kind = ui.toggle([*_KINDS], value=_BUNDLED, on_change=self._describe).props(
                    "no-caps unelevated dense padding='4px 14px'"
                )
                self._bundled()
                with ui.element("div").bind_visibility_from(self._kind, "value", value=_IMPORT):
                    self._import = ListImport(
                        self._forget_error, self._show_error, self._choose_seat
                    )
                self._builder: ArmyBuilder | None = None  # made when it is chosen
                self._builder_box = ui.element("div")
                self._builder_box.bind_visibility_from(self._kind, "value", value=_ARMIES)
                self._own()
                self._lists()
                with ui.element("div").bind_visibility_from(self._kind, "value", value=_POSITION):
                    add_text(_ABOUT_POSITIONS, "p", "about")
                    self._position = ui.input(
                        label="Position id", on_change=self._describe_position
                    ).props(f"outlined maxlength={MAX_BYTES}")
                    self._about_position = add_text(classes="about")
            with ui.element("section").classes("card players"):
                add_text("Players", "h2")
                with ui.element("div").classes("three two"):
                    with ui.element("div"):
                        self._seat = ui.select(
                            list(SEATS), value=SEATS[0], label="Your seat", on_change=self._describe
                        )
                        self._about_seat = add_text(classes="about")
                    with ui.element("div"):
                        self._opponent = ui.select(
                            list(OPPONENTS), value="veteran", label="Opponent", with_input=True,
                            new_value_mode="add-unique", on_change=self._describe,
                        )  # fmt: skip
                        self._about_opponent = add_text(classes="about")
                    with ui.element("div"):
                        self._seed = ui.input(
                            label="Seed of the dice", placeholder="any",
                            on_change=self._forget_error,
                        )  # fmt: skip
                        add_text(_SEED, classes="about")
                with ui.element("div").classes("playbar"):
                    with ui.element("div").classes("tools"):
                        self._play = ui.button("Play", on_click=self._submit)
                        self._play.props("no-caps unelevated padding='6px 28px'")
                        self._chosen = add_text(classes="chosen")
                        self._busy = ui.html(waiting("Setting up the table"), sanitize=False)
                        self._busy.visible = False
                    self._long = add_text("", "p", "how")
                    self._error = ui.html("", sanitize=False)
        self._describe()

    def _bundled(self) -> None:
        with ui.element("div").bind_visibility_from(self._kind, "value", value=_BUNDLED) as box:
            box.classes("bundled")
            self._cards = ui.html("", sanitize=False)
            choice = "(event) => emitScenario(event, emit)"
            self._cards.on("change", self._choose, js_handler=choice)
            self._about = add_text(classes="about")
        self._show_cards()

    def _show_cards(self) -> None:
        values = scenario_cards(), self._scenario
        self._cards.set_content(render_macro("scenarios", *values, template="web.html"))

    def _choose(self, event: events.GenericEventArguments) -> None:
        if event.args in _NAMES:
            self._scenario = event.args
            self._describe()

    async def restore(self) -> None:
        """Fill in the choices of the last game in this browser, if there was one."""
        try:
            text = await self._cards.client.run_javascript("savedSetup()", timeout=5.0)
            saved = json.loads(text) if text else {}
        except (TimeoutError, ValueError, TypeError):  # a slow browser, or edited by hand
            return
        if not isinstance(saved, dict):
            return
        kind, scenario = saved.get("kind"), saved.get("scenario")
        seat, opponent = saved.get("seat"), saved.get("opponent")
        if scenario in _NAMES:
            self._scenario = scenario
            self._show_cards()
        if kind in _KINDS:
            self._kind.value = kind
        if seat in SEATS:
            self._seat.value = seat
        if isinstance(opponent, str) and describe_opponent(opponent):
            if opponent not in self._opponent.options:
                self._opponent.set_options([*OPPONENTS, opponent])
            self._opponent.value = opponent
        self._describe()

    def _save(self) -> None:
        """Keep the choices in the browser, for its next game."""
        saved = {
            "kind": self._kind.value,
            "scenario": self._scenario,
            "seat": self._seat.value,
            "opponent": self._opponent.value,
        }
        text = json.dumps(json.dumps(saved))
        self._cards.client.run_javascript(f"saveSetup({text})")

    def _describe(self) -> None:
        """Describe the chosen scenario, seat and opponent."""
        self._forget_error()
        is_bundled = self._kind.value == _BUNDLED
        if self._kind.value == _ARMIES and self._builder is None:
            with self._builder_box:
                self._builder = ArmyBuilder(self._forget_error)
        scenario = load_scenario(self._scenario) if is_bundled else None
        set_text(self._about, describe_scenario(scenario) if scenario else "")
        set_text(self._about_seat, describe_seat(SEATS.index(self._seat.value), scenario))
        set_text(self._about_opponent, describe_opponent(self._opponent.value or ""))
        battle = self._scenario if is_bundled else _OWN_BATTLES[self._kind.value]
        players = f"you are the {self._seat.value}, against {self._opponent.value}"
        set_text(self._chosen, f"{battle}, {players}")

    async def show_position(self, position: str) -> None:
        """Choose a position by its id, for the address /?position=ID."""
        self._kind.value = _POSITION
        self._position.value = position

    async def _describe_position(self) -> None:
        """Describe the position, and choose the seat of the side to move."""
        self._forget_error()
        text = (self._position.value or "").strip()
        words = ""
        if text:
            try:
                shared = await run.io_bound(position_from_id, text)
            except ValueError as error:
                self._show_error(str(error))
            else:
                if shared is None:  # the server is shutting down
                    return
                seat = SEATS[shared.battle.mover]
                phase = int(shared.battle.state.phase) + 1
                self._choose_seat(seat)
                words = f"{shared.scenario.name}, phase {phase}, the {seat} is to move."
        set_text(self._about_position, words)

    def _choose_seat(self, seat: str) -> None:
        self._seat.value = seat

    def _own(self) -> None:
        with ui.element("div").bind_visibility_from(self._kind, "value", value=_OWN):
            self._text = ui.textarea(
                label="A scenario file, pasted or uploaded",
                placeholder='name = "my-duel"',
                on_change=self._forget_error,
            ).props("rows=10 outlined")
            self._upload = ui.upload(
                label="or a file (.toml)", max_file_size=MAX_BYTES, max_files=1, auto_upload=True,
                on_upload=self._uploaded,
                on_rejected=lambda: self._show_error(f"file: expected at most {MAX_BYTES:,} bytes"),
            ).props("accept=.toml flat bordered").style("width: 100%")  # fmt: skip

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        data = await event.file.read()
        self._upload.reset()  # so that the same file can be chosen again once corrected
        try:
            self._text.value = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._show_error(f"file: expected text in UTF-8, found {NOT_UTF8}")

    def _lists(self) -> None:
        with ui.element("div").bind_visibility_from(self._kind, "value", value=_LISTS):
            ui.html(
                "The caster's wizards. Write a spell as <b>Fire Ball=20</b> (a lore's spell and "
                "its points) or <b>8=40</b> (casting value 8+), separated by commas.",
                sanitize=False,
            ).classes("about")
            self._rows = ui.element("div").classes("stack")
            self._add_wizard("4", "Fire Ball=20, 8=40, 11=60")
            ui.button("Another wizard", on_click=partial(self._add_wizard, "2")).props(FLAT)
            with ui.element("div").classes("three two"):
                self._power = ui.input(label="Caster's power dice", placeholder="by the rules")
                self._power.props("stack-label")  # otherwise the label hides the placeholder
                self._dispel = ui.input(label="Dispeller's dispel dice", value="4")
                self._scrolls = ui.input(label="Dispeller's scrolls", value="1")

    def _add_wizard(self, level: str = "2", spells: str = "") -> None:
        if len(self._wizards) >= MOST_WIZARDS:
            return
        with self._rows, ui.element("div").classes("wizard") as row:
            fields = (
                ui.select(["1", "2", "3", "4"], value=level, label="Level"),
                ui.input(
                    label="Spells",
                    value=spells,
                    placeholder="Fire Ball=20, 8=40",
                    on_change=self._forget_error,
                ),
            )

            def remove() -> None:
                self._wizards.remove(fields)
                row.delete()

            ui.button(icon="close", on_click=remove).props("flat dense round aria-label=remove")
        self._wizards.append(fields)

    async def _setup(self) -> Setup:
        kind = self._kind.value
        lists = PositionRequest()
        if kind == _LISTS:
            wizards = [
                [level.value, *(each.strip() for each in spells.value.split(",") if each.strip())]
                for level, spells in self._wizards
            ]
            lists = PositionRequest(
                wizard=wizards,
                power=_number("power dice", self._power.value, None),
                dispel=_number("dispel dice", self._dispel.value, 0),
                scrolls=_number("scrolls", self._scrolls.value, 0),
            )
        texts = {_OWN: self._text.value or "", _ARMIES: self._builder.text if self._builder else ""}
        if kind == _IMPORT:
            texts[kind] = await self._import.scenario_text()
        return Setup(
            scenario=self._scenario if kind == _BUNDLED else None,
            text=texts.get(kind),
            lists=lists,
            position=self._position.value or "" if kind == _POSITION else None,
            seat=SEATS.index(self._seat.value),
            opponent=self._opponent.value or "",
            seed=_number("seed", self._seed.value, None),
        )

    async def _submit(self) -> None:
        try:
            setup = await self._setup()
        except ValueError as error:
            self._show_error(str(error))
        else:
            self._save()
            await self.wait_for(self._start(setup))

    async def wait_for(self, start: Awaitable[str]) -> None:
        """Show a waiting message until the game replaces the form, or an error if it fails."""
        self._error.set_content("")
        self._play.disable()
        self._busy.visible = True
        with self._long:
            timer = ui.timer(3, lambda: set_text(self._long, _LONG_START), once=True)
        error = await start
        if error:
            timer.cancel()
            set_text(self._long, "")
            self._play.enable()
            self._busy.visible = False
            self._show_error(error)

    def _forget_error(self) -> None:
        """Remove the error message, because the setup has changed."""
        if hasattr(self, "_error"):  # otherwise the form is not complete yet
            self._error.set_content("")

    def _show_error(self, error: str) -> None:
        self._error.set_content(render_macro("error", error, template="web.html"))


def _number(name: str, text: str | None, default: int | None) -> int | None:
    """Parse a whole number of at least 0; an empty field gives the default."""
    written = (text or "").strip()
    if not written:
        return default
    if not (written.isdecimal() and len(written) <= len(str(2**31))):
        raise ValueError(f"{name}: expected a whole number from 0 on, found {written[:40]!r}")
    return int(written)
