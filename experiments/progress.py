"""A command's progress on stderr: a bar in a terminal, otherwise plain lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from wfb_gym._progress import is_terminal, printed_lines, shown_by

WIDEST = 1000
"""Characters per line if stderr is not a terminal, where Rich would cut lines at 80."""


class _DetailColumn(ProgressColumn):
    """The progress within a step, if any."""

    def render(self, task: Task) -> Text:
        return Text(str(task.fields.get("detail", "")))  # no markup: names may contain brackets


class Display(Progress):
    """A progress bar on stderr. Without a terminal, it is a plain line from time to time.

    Its tasks take a `note`. Progress within a step, which the solver reports through
    `wfb_gym._progress`, follows the last task's note.
    """

    _shown_now: ClassVar[list["Display"]] = []

    def __init__(self, *columns: ProgressColumn, **options: Any) -> None:
        on_terminal = is_terminal(sys.stderr)
        width = None if on_terminal else WIDEST
        outer = Display._shown_now  # nested displays share the console of the outer one
        console = outer[-1].console if outer else Console(stderr=True, width=width)
        super().__init__(*columns, _DetailColumn(), console=console, **options)
        self._is_terminal, self._shown = on_terminal, ExitStack()

    def add_task(self, description: str, *args: Any, **options: Any) -> TaskID:
        """Add a task; see `rich.progress.Progress.add_task`."""
        return super().add_task(description, *args, **{"note": ""} | options)

    def start(self) -> None:
        """Start showing the progress."""
        super().start()
        shown = shown_by(self._show_detail) if self._is_terminal else printed_lines(self._in_words)
        self._shown.enter_context(shown)
        Display._shown_now.append(self)

    def stop(self) -> None:
        """Stop showing the progress."""
        self._shown.close()
        super().stop()
        if self in Display._shown_now:
            Display._shown_now.remove(self)

    def _show_detail(self, text: str) -> None:
        if self.tasks:
            self.update(self.tasks[-1].id, detail=text)

    def _in_words(self) -> str:
        return ", ".join(map(_task_in_words, filter(lambda each: not each.finished, self.tasks)))


def _task_in_words(task: Task) -> str:
    words = task.description
    if task.total:
        words += f", {task.percentage:.0f} %"
        if task.time_remaining is not None:
            words += f", about {task.time_remaining:.0f} s left"
    return f"{words}, {task.fields['note']}" if task.fields["note"] else words


def progress(*, in_percent: bool = False) -> Display:
    """Return a progress bar on stderr, with the time left. Its tasks take a `note`.

    The bar shows the number of finished steps, or a percentage.
    """
    return Display(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn() if in_percent else MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        TextColumn("{task.fields[note]}", markup=False),
    )


Report = Callable[[str, int], None]
"""Takes a note ("" keeps the previous one) and the number of steps done since the last call."""


@contextmanager
def report_progress(title: str, total: int) -> Iterator[Report]:
    """Show a progress bar on stderr while the block runs."""
    with progress() as bar:
        task = bar.add_task(title, total=total, note="")

        def report(note: str, steps: int) -> None:
            bar.update(task, advance=steps)
            if note:
                bar.update(task, note=note)

        yield report
