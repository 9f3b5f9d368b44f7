"""A browser tab's page: the form at /, a game and its review at /game/KEY, or /practice."""

import re

from nicegui import app, run, ui

from wfb_gym.practice.game_history import GameHistory
from wfb_gym.web.elements import add_text, waiting
from wfb_gym.web.form import Form
from wfb_gym.web.games import GameError, Games, owner_of
from wfb_gym.web.practice_page import PracticePage
from wfb_gym.web.request_checks import BROWSER
from wfb_gym.web.scenario_cards import scenario_cards
from wfb_gym.web.session import Setup
from wfb_gym.web.table import GameTable

_STARTING = "starting"  # key in a tab's storage for the key of the game that is set up
_PRACTICE = "/practice"
_GAME_PATH = re.compile(r"/game/([0-9a-f]{16})")
_MOST_LISTED = 5
_NOT_FOUND = 404
_NO_PAGE = "There is no page at this address."


class Page:
    """A browser tab's page.

    Args:
        games: the games of all browsers.
        history: the player's own games for practice, or None if they are not kept.
    """

    def __init__(self, games: Games, history: GameHistory | None) -> None:
        self._games, self._history = games, history
        client = ui.context.client
        self._path = client.request.scope["path"]
        self._position = client.request.query_params.get("position")
        self._owner = owner_of(client.request.scope[BROWSER])
        self._root = ui.element("div").classes("wfb page")
        self._is_practice = self._path == _PRACTICE and history is not None
        is_known = self._path == "/" or self._is_practice or _GAME_PATH.fullmatch(self._path)
        if not is_known:
            client.status_code = _NOT_FOUND

    async def show(self) -> None:
        """Show the game at the page's address, or the form."""
        client = ui.context.client
        await client.connected()  # the tab is not known until then
        if not client.has_socket_connection:  # a request without a browser
            return
        self._tab = app.storage.tab
        if found := _GAME_PATH.fullmatch(self._path):
            await self._show_game(found[1])
            return
        if self._is_practice and self._history is not None:
            with self._root:
                await PracticePage(self._history).show()
            return
        if self._path != "/":
            self._show_problem(_NO_PAGE)
            return
        await run.io_bound(scenario_cards)  # draws them at the first call
        with self._root:
            form = Form(self._start, self._show_games)
        await form.restore()
        if self._position is not None:
            await form.show_position(self._position)
        if _STARTING in self._tab:  # the tab was reloaded while the game was being set up
            await form.wait_for(self._started())

    def _show_games(self) -> None:
        """Show links to the browser's latest games, if there are any."""
        summaries = self._games.summaries(self._owner)[:_MOST_LISTED]
        if not summaries:
            return
        with ui.element("section").classes("card games"):
            add_text("Your games", "h2")
            for summary in summaries:
                with ui.element("p"):
                    ui.link(f"{summary.title} ({summary.status})", _address(summary.key))
            if self._history is not None:
                with ui.element("p"):
                    ui.link("Practice: puzzles from your mistakes, and error ratings", _PRACTICE)

    async def _show_game(self, key: str) -> None:
        with self._root:
            wait = ui.html(waiting("Setting up the table"), sanitize=False)
        try:
            game = await self._games.open(key, self._owner)
        except GameError as error:
            self._show_problem(str(error))
        except (ValueError, OSError, ImportError) as error:  # its file is damaged
            self._show_problem(f"This game cannot be continued: {error}")
        else:
            wait.delete()
            with self._root:
                table = GameTable(game, lambda: ui.navigate.to("/"), self._history)
            await table.show()

    def _show_problem(self, words: str) -> None:
        self._root.clear()
        with self._root:
            add_text(words, "p")
            ui.link("Start a new game", "/")

    async def _start(self, setup: Setup) -> str:
        """Start a game and return the error message, or "" if there is none."""
        if _STARTING not in self._tab:  # otherwise clicked twice
            try:
                self._tab[_STARTING] = self._games.start(self._owner, setup)
            except GameError as error:
                return str(error)
        return await self._started()

    async def _started(self) -> str:
        """Wait until the game is set up and go to it; return the error message, or ""."""
        key = self._tab[_STARTING]
        try:
            await self._games.open(key, self._owner)
        except (ValueError, OSError, ImportError) as error:  # the setup is invalid
            return str(error)
        finally:
            self._tab.pop(_STARTING, None)
        ui.navigate.to(_address(key))
        return ""


def _address(key: str) -> str:
    return f"/game/{key}"
