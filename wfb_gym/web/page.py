"""What one browser shows: a form, then the game, then its review.

Layout and events alone: what is said and drawn comes from `session` and `wfb_gym.render`. Whatever
may take long runs in a thread, and the page says that it thinks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple

from nicegui import app, events, run, ui

from wfb_gym.advising.lists import Lists
from wfb_gym.files import NOT_UTF8
from wfb_gym.render.html import (
    army_blocks,
    pool_dice,
    score_html,
    step_html,
)
from wfb_gym.render.review_page import SCRIPT, review_html, review_page
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.limits import MAX_BYTES
from wfb_gym.seats import SEATS
from wfb_gym.transcripts.transcript import text_of
from wfb_gym.web.session import (
    MOST_WIZARDS,
    OPPONENTS,
    Advice,
    OpenChoice,
    Session,
    Setup,
    scenario_of,
)

_BUNDLED, _OWN, _LISTS = "Bundled", "Own file", "Lists"
_GAME, _STARTING = "game", "starting"
"""What is kept of a tab: a `_Kept`, and the `asyncio.Task` that sets one up."""
_LONG_START = (
    "The first game on a machine compiles the rules, for half a minute or more; "
    "an optimal opponent solves the scenario before it plays."
)
_NO_REVIEW = "A battle with hidden items is reviewed once it is over, as all is told then."
_FLAT = "flat no-caps dense"
_OUTLINED = "no-caps outline dense padding='3px 14px'"
_PICK = """(event) => {
  const hit = event.target.closest("[data-code], [data-point]");
  if (hit) emit([hit.dataset.code ?? null, hit.dataset.point ?? null]);
}"""
_BACK = """(event) => {
  const hit = event.target.closest("[data-back]");
  if (hit) emit(Number(hit.dataset.back));
}"""


class _Kept(NamedTuple):
    """A game that its tab comes back to; a tab that is duplicated shares it."""

    session: Session
    lock: asyncio.Lock  # of what runs in a thread


class Page:
    """The page of one browser; `show` begins with the tab's game, or else with the form."""

    def __init__(self) -> None:
        self._root = ui.element("div").classes("wfb page")

    async def show(self) -> None:
        """Show the game that the tab has, reloaded or not; else the form."""
        client = ui.context.client
        await client.connected()  # then the tab is known
        if not client.has_socket_connection:  # a request that no browser follows up
            return
        self._tab = app.storage.tab
        if _GAME in self._tab:
            await self._show_game()
            return
        form = self._show_form()
        if _STARTING in self._tab:  # it was reloaded meanwhile
            await form.wait_for(self._started())

    def _show_form(self) -> "_Form":
        self._tab.pop(_GAME, None)
        self._root.clear()
        with self._root:
            return _Form(self._start)

    async def _show_game(self) -> None:
        self._root.clear()
        with self._root:
            game = _Game(self._tab, self._show_form)
        await game.show()

    async def _start(self, setup: Setup) -> str:
        """Begin a game; returns what is wrong with the setup, or ""."""

        def begin() -> Session:
            return Session(scenario_of(setup), setup)

        self._tab[_STARTING] = asyncio.ensure_future(run.io_bound(begin))
        return await self._started()

    async def _started(self) -> str:
        """Show the game that is being set up, once it is; returns what is wrong with it, or ""."""
        try:
            session = await asyncio.shield(self._tab[_STARTING])
        except (ValueError, OSError, ImportError) as error:  # all that is refused
            return str(error)
        finally:
            self._tab.pop(_STARTING, None)
        if session is None:  # the server is about to end
            return ""
        if _GAME not in self._tab:  # else the page from before a reload was first
            self._tab[_GAME] = _Kept(session, asyncio.Lock())
        await self._show_game()
        return ""


# --- before the game -----------------------------------------------------------------------


class _Form:
    """Where a game is chosen."""

    def __init__(self, start: Callable[[Setup], Any]) -> None:
        self._start = start
        self._wizards: list[tuple[ui.select, ui.input]] = []
        with ui.element("div").classes("form"):
            ui.html("<h1>The magic phase, at your table</h1>", sanitize=False)
            with ui.element("section").classes("card"):
                ui.html("<h2>What is played</h2>", sanitize=False)
                self._kind = ui.toggle(
                    [_BUNDLED, _OWN, _LISTS], value=_BUNDLED, on_change=self._forget_error
                ).props("no-caps unelevated dense padding='4px 14px'")
                self._bundled()
                self._own()
                self._lists()
            with ui.element("section").classes("card"):
                ui.html("<h2>Who plays</h2>", sanitize=False)
                with ui.element("div").classes("three two"):
                    self._seat = ui.select(
                        list(SEATS), value=SEATS[0], label="Your seat", on_change=self._forget_error
                    )
                    self._opponent = ui.select(
                        list(OPPONENTS), value="veteran", label="Opponent", with_input=True,
                        new_value_mode="add-unique", on_change=self._forget_error,
                    )  # fmt: skip
                    self._seed = ui.input(
                        label="Seed of the dice", placeholder="any", on_change=self._forget_error
                    )
                with ui.element("div").classes("tools"):
                    self._play = ui.button("Play", on_click=self._submit)
                    self._play.props("no-caps unelevated padding='6px 28px'")
                    self._busy = ui.html(_thinks("Setting up the table"), sanitize=False)
                    self._busy.visible = False
                self._long = ui.html("", sanitize=False, tag="p").classes("how")
                self._error = ui.html("", sanitize=False)

    def _bundled(self) -> None:
        with ui.element("div").bind_visibility_from(self._kind, "value", value=_BUNDLED):
            self._name = ui.select(
                [*bundled_scenarios(), *hidden_scenarios()], value="archmage-duel",
                label="Scenario", with_input=True, on_change=self._describe,
            )  # fmt: skip
            self._about = ui.html("", sanitize=False).classes("about")
            self._describe()

    def _describe(self) -> None:
        name = self._name.value
        about = load_scenario(name).description if name else None
        self._about.set_content(escape(about or ""))

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
                on_rejected=lambda: self._refuse(f"file: expected at most {MAX_BYTES:,} bytes"),
            ).props("accept=.toml flat bordered").style("width: 100%")  # fmt: skip

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        data = await event.file.read()
        self._upload.reset()  # so that the same file, mended, can be chosen again
        try:
            self._text.value = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._refuse(f"file: expected text in UTF-8, found {NOT_UTF8}")

    def _lists(self) -> None:
        with ui.element("div").bind_visibility_from(self._kind, "value", value=_LISTS):
            ui.html(
                "Wizards of the caster's: spells as <b>Fire Ball=20</b> (a spell of a lore, and "
                "what it is worth) or <b>8=40</b> (takes 8+), with commas between.",
                sanitize=False,
            ).classes("about")
            self._rows = ui.element("div").classes("stack")
            self._add_wizard("4", "Fire Ball=20, 8=40, 11=60")
            ui.button("Another wizard", on_click=partial(self._add_wizard, "2")).props(_FLAT)
            with ui.element("div").classes("three"):
                self._power = ui.input(label="Power dice", placeholder="by level")
                self._dispel = ui.input(label="Dispel dice", value="4")
                self._scrolls = ui.input(label="Scrolls", value="1")

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

    def _setup(self) -> Setup:
        kind = self._kind.value
        lists = Lists(())
        if kind == _LISTS:
            wizards = [
                [level.value, *(each.strip() for each in spells.value.split(",") if each.strip())]
                for level, spells in self._wizards
            ]
            lists = Lists(
                wizards,
                _number("power dice", self._power.value, None),
                _number("dispel dice", self._dispel.value, 0) or 0,
                _number("scrolls", self._scrolls.value, 0) or 0,
            )
        return Setup(
            self._name.value if kind == _BUNDLED else None,
            self._text.value or "" if kind == _OWN else None,
            lists,
            SEATS.index(self._seat.value),
            self._opponent.value or "",
            _number("seed", self._seed.value, None),
        )

    async def _submit(self) -> None:
        try:
            setup = self._setup()
        except ValueError as refused:
            self._refuse(str(refused))
        else:
            await self.wait_for(self._start(setup))

    async def wait_for(self, start: Awaitable[str]) -> None:
        """Say that a game is set up until it takes the form's place, or what is wrong with it."""
        self._error.set_content("")
        self._play.disable()
        self._busy.visible = True
        with self._long:
            told = ui.timer(3, lambda: self._long.set_content(_LONG_START), once=True)
        error = await start
        if error:
            told.cancel()
            self._long.set_content("")
            self._play.enable()
            self._busy.visible = False
            self._refuse(error)

    def _forget_error(self) -> None:
        """Take away what was said of a setup that is changed now."""
        self._error.set_content("")

    def _refuse(self, error: str) -> None:
        self._error.set_content(f'<div class="error" role="alert">{escape(error)}</div>')


def _number(name: str, text: str | None, default: int | None) -> int | None:
    """Read a whole number from 0 on; an empty field is the default."""
    written = (text or "").strip()
    if not written:
        return default
    if not (written.isdecimal() and len(written) <= len(str(2**31))):
        raise ValueError(f"{name}: expected a whole number from 0 on, found {written[:40]!r}")
    return int(written)


def _thinks(words: str) -> str:
    return f'<div class="thinks"><span class="wait"></span>{escape(words)} &hellip;</div>'


# --- the game ------------------------------------------------------------------------------


class _Game:
    """The table: positions, choices, odds and advice, what happened; at the end the review."""

    def __init__(self, tab: dict[str, Any], leave: Callable[[], Any]) -> None:
        self._tab, self._go = tab, leave
        self._kept: _Kept = tab[_GAME]
        session: Session = self._kept.session
        self._session = session
        self._shown_spell: int | None = None
        self._shown_events = 0
        self._advises = self._has_odds = False
        self._making: object | None = None  # of the review that is being made
        seat = session.game.seat
        with ui.element("div").classes("top"):
            ui.html(f"<h1>{escape(session.scenario.name)}</h1>", sanitize=False).style("flex:1")
            self._review_button = ui.button("Review", on_click=self._review).props(_FLAT)
            ui.button("New game", on_click=self._leave).props(_FLAT)
        self._report = ui.element("div")
        self._table = ui.element("div").classes("columns")
        with self._table:
            with ui.element("div").classes("stack"):
                with ui.element("section").classes("card map") as self._map_card:
                    self._ranges = ui.element("div").classes("ranges")
                    self._map = ui.html("", sanitize=False)
                    self._map.on("click", self._pick, js_handler=_PICK)
                self._map_card.visible = session.scenario.battlefield is not None
                with ui.element("div").classes("armies"):
                    self._armies = [
                        ui.html("", sanitize=False, tag="section").classes(f"army a{army}")
                        for army in (seat, 1 - seat)
                    ]
            with ui.element("div").classes("stack side"):
                with ui.element("section").classes(f"card now-card a{seat}"):
                    self._score = ui.html("", sanitize=False)
                    self._step = ui.html("", sanitize=False).style("margin-top: 8px")
                    self._choices = ui.element("div").classes("choices")
                    self._wait = ui.html("", sanitize=False)
                    with ui.element("div").classes("tools"):
                        self._advice_button = ui.button("Advice", on_click=self._toggle_advice)
                        self._odds_button = ui.button("Odds", on_click=self._toggle_odds)
                        self._undo_button = ui.button("Undo", on_click=partial(self._undo, -1))
                        for each in (self._advice_button, self._odds_button, self._undo_button):
                            each.props(_OUTLINED)
                self._odds = ui.html("", sanitize=False, tag="section").classes("card odds-card")
                with ui.element("section").classes("card log-card"):
                    ui.html("<h2>What happened</h2>", sanitize=False)
                    self._log = ui.html("", sanitize=False).classes("log")
                    self._log.on("click", lambda event: self._undo(event.args), js_handler=_BACK)
        self._seat_words = ui.html("", sanitize=False, tag="p").classes("how")

    async def _leave(self) -> None:
        """Go back to the form; of a battle that is under way after a question."""
        if not self._session.is_over and self._session.game.decisions:
            with ui.dialog() as question, ui.card():
                ui.label("This battle is not over. Leave it for a new game?")
                with ui.row():
                    ui.button("Leave it", on_click=lambda: question.submit(True)).props(_OUTLINED)
                    ui.button("Play on", on_click=lambda: question.submit(False)).props(_OUTLINED)
            if not await question:
                return
        self._go()

    async def show(self) -> None:
        """Show the position, once the opponent, whom the tab may have left thinking, has played."""
        await self._thinking(f"{self._session.game.opponent} thinks", lambda: None)
        await self._refresh()

    async def _refresh(self) -> None:
        session = self._session
        self._tab[_GAME] = self._kept  # so that its age counts from now
        async with self._kept.lock:  # a duplicate of the tab may play
            self._show_position()
        self._map.set_content(await self._thinking("", session.map_html, self._spell()))
        self._table.visible = not session.is_over  # the review shows it too
        if session.is_over:
            await self._review()
        elif self._advises:
            await self._show_advice()

    def _show_position(self) -> None:
        session = self._session
        self._shown_events = len(session.game.events)
        battle, names = session.visible, session.names
        seat = session.game.seat
        self._score.set_content(score_html(names, battle))
        question = f"<p class='question'>{escape(session.question)}</p>" if session.question else ""
        self._step.set_content(step_html(names, battle) + question)
        for army, card in zip((seat, 1 - seat), self._armies, strict=True):
            card.set_content("".join(army_blocks(names, battle, army, seat)))
        self._show_choices(session.choices(), None)
        self._log.set_content(session.log_html())
        self._undo_button.set_enabled(session.can_undo)
        self._review_button.set_text("Transcript" if self._keeps_secrets else "Review")
        self._seat_words.set_content(escape(session.seat_words))
        self._show_odds()
        self._show_ranges()

    # --- choices ---------------------------------------------------------------------------

    def _show_choices(self, choices: Sequence[OpenChoice], advice: Advice | None) -> None:
        self._choices.clear()
        self._choices.classes(remove="waiting")
        seat = self._session.game.seat
        with self._choices:
            for choice in choices:
                best = advice is not None and advice.best == choice.code
                button = ui.element("button").classes("choice best" if best else "choice")
                button.props(f'data-choice={choice.code} type="button"')
                button.on("click", partial(self._act, choice.code))
                with button:
                    ui.html(_choice_html(choice, advice, seat), sanitize=False).style(
                        "display: contents"
                    )
            if advice is not None:
                ui.html(f"<p class='how advice'>{escape(advice.words)}</p>", sanitize=False)

    async def _act(self, code: int) -> None:
        session = self._session
        turn = self._shown_events

        def act() -> None:
            if len(session.game.events) == turn:  # else it was clicked twice, or in another tab
                session.act(code)

        self._choices.classes(add="waiting")
        await self._thinking(f"{session.game.opponent} thinks", act)
        if len(session.game.events) != self._shown_events:
            self._shown_spell = None
            self._close_review()  # it is of the battle before
            await self._refresh()

    async def _pick(self, event: events.GenericEventArguments) -> None:
        """Take a click on the battlefield for a target, where one is chosen."""
        code, point = (None if each is None else int(each) for each in event.args)
        target = self._session.target_at(code, point)
        if target is not None:
            await self._act(target)

    async def _undo(self, decision: int) -> None:
        await self._thinking("", self._session.undo, int(decision))
        self._shown_spell = None
        self._close_review()
        await self._refresh()

    # --- odds and advice -------------------------------------------------------------------

    async def _toggle_advice(self) -> None:
        self._advises = not self._advises
        if self._session.is_over:
            return
        if self._advises:
            await self._show_advice()
        else:
            self._show_choices(self._session.choices(), None)

    async def _show_advice(self) -> None:
        session = self._session

        def advise() -> Advice | None:
            return None if session.is_over else session.advice()

        advice = await self._thinking("Working out what each choice is worth", advise)
        if advice is not None and self._advises:
            self._show_choices(self._session.choices(), advice)

    def _toggle_odds(self) -> None:
        self._has_odds = not self._has_odds
        self._show_odds()

    def _show_odds(self) -> None:
        table = self._session.odds_html() if self._has_odds else ""
        if self._has_odds and not table:
            table = "<p class='how'>No dice are thrown by this choice.</p>"
        self._odds.set_content(f"<h2>Odds</h2>{table}")
        self._odds.visible = self._has_odds

    # --- the battlefield -------------------------------------------------------------------

    def _spell(self) -> tuple[int, int] | None:
        """Return the spell whose reach is shown: the one at stake, or the one asked for."""
        at_stake = self._session.spell_at_stake()
        if at_stake is not None or self._shown_spell is None:
            return at_stake
        return self._session.game.seat, self._shown_spell

    def _show_ranges(self) -> None:
        self._ranges.clear()
        spells = self._session.aimed_spells()
        if not spells or self._session.spell_at_stake() is not None:
            return
        with self._ranges:
            ui.html("Reach of", sanitize=False)
            for number, name in spells.items():
                button = ui.element("button").classes("on" if number == self._shown_spell else "")
                button.props('type="button"').on("click", partial(self._show_reach, number))
                with button:
                    ui.html(escape(name), sanitize=False, tag="span")

    async def _show_reach(self, number: int) -> None:
        self._shown_spell = None if number == self._shown_spell else number
        self._show_ranges()
        self._map.set_content(await self._thinking("", self._session.map_html, self._spell()))

    # --- what happened ---------------------------------------------------------------------

    def _close_review(self) -> None:
        """Take the review away; one that is still being made will not be shown."""
        self._making = None
        self._report.clear()

    async def _review(self) -> None:
        """Show the review below the head of the page, unless it is being made already."""
        if not self._session.game.events or self._making is not None:
            return
        if self._keeps_secrets:
            self._show_transcript()
            return
        making = self._making = object()
        done: list[int] = [0, 1]

        def note(number: int, of: int) -> None:
            done[:] = number, of

        self._report.clear()
        with self._report:
            told = ui.html(_thinks("Reviewing the battle"), sanitize=False)
            timer = ui.timer(
                0.5,
                lambda: told.set_content(
                    _thinks(f"Reviewing the battle, {done[0]} of {done[1]} steps")
                ),
            )
        try:
            review = await self._thinking("", self._session.review, note)
            page = shown = ""
            if review is not None:
                page = await self._thinking("", review_page, review)
                shown = await self._thinking("", review_html, review)
        finally:
            timer.cancel()
            is_wanted = self._making is making  # else the battle has gone on
            if is_wanted:
                self._close_review()
        if not is_wanted or review is None:
            return
        with self._report:
            with ui.element("div").classes("tools"):
                self._offer("Download the transcript", text_of(review.transcript), "jsonl")
                self._offer("Download this review", page, "html")
                if self._session.is_over and self._session.can_undo:
                    ui.button(
                        "Take back the last decision", on_click=partial(self._undo, -1)
                    ).props(_OUTLINED)
                elif not self._session.is_over:
                    ui.button("Close the review", on_click=self._close_review).props(_OUTLINED)
            ui.html(shown, sanitize=False)
        ui.run_javascript(SCRIPT)

    @property
    def _keeps_secrets(self) -> bool:
        """Whether a review would tell what is still hidden."""
        return self._session.scenario.has_secrets and not self._session.is_over

    def _show_transcript(self) -> None:
        """Offer the public transcript where there is no review yet."""
        self._report.clear()
        with self._report:
            ui.html(f"<p class='how'>{_NO_REVIEW}</p>", sanitize=False)
            with ui.element("div").classes("tools").style("margin-bottom: 14px"):
                transcript = text_of(self._session.transcript())
                self._offer("Download the public transcript", transcript, "jsonl")
                ui.button("Close", on_click=self._close_review).props(_OUTLINED)

    def _offer(self, words: str, content: str, ending: str) -> None:
        """Show a button that downloads something."""
        file = f"{self._session.scenario.name}.{ending}"
        ui.button(words, on_click=partial(ui.download.content, content, file)).props(_OUTLINED)

    async def _thinking(self, words: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run something in a thread, one after the other, and say what goes on."""
        async with self._kept.lock:
            self._wait.set_content(_thinks(words) if words else "")
            try:
                return await run.io_bound(work, *arguments)
            finally:
                self._wait.set_content("")


def _choice_html(choice: OpenChoice, advice: Advice | None, seat: int) -> str:
    """Return what stands on the button of a choice."""
    dice = f'<span class="dice">{pool_dice(choice.dice, seat)}</span>' if choice.dice else ""
    text = choice.text[:1].upper() + choice.text[1:]
    chance = ""
    if choice.chance is not None:
        chance = f'<span class="chance">{100 * choice.chance:.1f}%</span>'
    worth = ""
    if advice is not None and choice.code in advice.marks:
        best = '<span class="tag best">best</span>' if advice.best == choice.code else ""
        worth = f'{best}<span class="worth">{advice.marks[choice.code]}</span>'
    return f'<span class="text">{escape(text)}</span>{dice}{chance}{worth}'
