"""A browser tab's page: first the form, then the game, then its review."""

import asyncio

from nicegui import app, run, ui

from wfb_gym.web.form import Form
from wfb_gym.web.scenario_cards import scenario_cards
from wfb_gym.web.session import Session, Setup, scenario_of
from wfb_gym.web.table import GAME, GameTable, TabGame

_STARTING = "starting"
"""Key for the `asyncio.Task` that sets up a tab's game."""


class Page:
    """A browser tab's page; `show` starts with the tab's game if it has one."""

    def __init__(self) -> None:
        self._root = ui.element("div").classes("wfb page")

    async def show(self) -> None:
        """Show the tab's game if it has one, even after a reload; otherwise show the form."""
        client = ui.context.client
        await client.connected()  # the tab is not known until then
        if not client.has_socket_connection:  # a request without a browser
            return
        self._tab = app.storage.tab
        if GAME in self._tab:
            await self._show_game()
            return
        form = await self._show_form()
        if _STARTING in self._tab:  # the tab was reloaded while the game was being set up
            await form.wait_for(self._started())

    async def _show_form(self) -> Form:
        self._tab.pop(GAME, None)
        await run.io_bound(scenario_cards)  # draws them at the first call
        self._root.clear()
        with self._root:
            form = Form(self._start)
        await form.restore()
        return form

    async def _show_game(self) -> None:
        self._root.clear()
        with self._root:
            game = GameTable(self._tab, self._show_form)
        await game.show()

    async def _start(self, setup: Setup) -> str:
        """Start a game and return the error message, or "" if there is none."""

        def begin() -> Session:
            return Session(scenario_of(setup), setup)

        self._tab[_STARTING] = asyncio.ensure_future(run.io_bound(begin))
        return await self._started()

    async def _started(self) -> str:
        """Wait until the game is set up and show it; return the error message, or ""."""
        try:
            session = await asyncio.shield(self._tab[_STARTING])
        except (ValueError, OSError, ImportError) as error:  # the setup is invalid
            return str(error)
        finally:
            self._tab.pop(_STARTING, None)
        if session is None:  # the server is shutting down
            return ""
        if GAME not in self._tab:  # otherwise the page from before a reload has already stored it
            self._tab[GAME] = TabGame(session, asyncio.Lock())
        await self._show_game()
        return ""
