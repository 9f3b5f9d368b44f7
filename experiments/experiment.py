"""The runner shared by all experiments, which are measured in parts.

A module declares an `Experiment` with its settings, parts and results. The runner parses the
command line, opens workers, loads finished parts, shows progress, handles Ctrl-C, writes
results.json and a figure, and prints a table or JSON.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from experiments import common
from experiments.attempts import WorkerError
from experiments.outcomes import ExperimentError, Line, Outcome, Results, Run
from experiments.progress import report_progress
from experiments.records import RecordError, ResultFile
from experiments.tables import print_results
from experiments.workers import Workers, open_workers
from wfb_gym.cli.parser import COULD_NOT_RUN
from wfb_gym.files import describe_error
from wfb_gym.solver import TooLarge

SettingsT = TypeVar("SettingsT")
PartT = TypeVar("PartT")


def _ignore(_: str, __: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[SettingsT, PartT]):
    """An experiment and its command.

    Attributes:
        module: module name for ``python -m``.
        description: the command's help.
        settings: dataclass whose fields are the flags; `out` is the results folder.
        quick: settings for ``--quick``. If None, there is no such flag.
        check: raises a ValueError or OSError if the settings are invalid, and returns the settings
            to use. Its second argument holds the given switches, such as "quick".
        positive: settings that must be above 0.
        natural: settings that must be at least 0.
        kind: the record's content, in one word such as "tournament".
        file: file name of the record in the folder. If None, there is no record, and `out` is a
            file.
        free: settings that affect neither the results nor which results belong together.
        recorded: everything that the results depend on. Defaults to the settings without `free`.
        records: opens the records, by group of parts, if they are not a single file in `out`.
        group_of: returns the name of a part's group.
        is_kept: returns whether to record a line. Parts with other lines are measured again.
        parts: parts to measure, in order. `str(part)` is the part's name in progress and errors.
        run_part: measures a part, in this process or in a worker.
        work: replaces `run_part` if parts depend on each other, and measures the missing parts.
            Takes the settings, the missing parts, the other parts' lines and the workers.
        name_of: returns the name of a line's part. By default, lines are in the order of the parts.
        files: files that parts refer to, for workers on other machines.
        results: returns the results to write and print.
        tables: returns the results as texts.
        figures: draws the results into the folder.
        notes: lines about the results to print on stderr.
        needs_all: whether an interrupted run has no results. A run without parts never has any.
        notes_fail: whether a run with notes fails.
        outcome: replaces `results`, `tables`, `notes` and `notes_fail` if these depend on each
            other or on the settings.
    """

    module: str
    description: str | None
    settings: type[SettingsT]
    quick: Mapping[str, Any] | None
    parts: Callable[[SettingsT], Sequence[PartT]]
    results: Callable[[Run[SettingsT, PartT]], Results] = Run.document
    tables: Callable[[Results], Iterable[str]] = lambda _: ()
    run_part: Callable[[SettingsT, PartT], Line] | None = None
    work: Callable[[SettingsT, Sequence[PartT], Sequence[Line], Workers], Iterator[Line]] | None = (
        None
    )
    check: Callable[[SettingsT, Collection[str]], SettingsT] = lambda settings, _: settings
    positive: Sequence[str] = ()
    natural: Sequence[str] = ()
    kind: str = "measurement"
    file: str | None = "parts.jsonl"
    free: Collection[str] = ("out", "ray")
    recorded: Callable[[SettingsT], dict[str, Any]] | None = None
    records: Callable[[SettingsT], Iterable[tuple[str, ResultFile]]] | None = None
    group_of: Callable[[PartT], str] = lambda _: ""
    is_kept: Callable[[Line], bool] = lambda _: True
    name_of: Callable[[Line], str] | None = None
    files: Callable[[SettingsT], Iterable[str]] = lambda _: ()
    figures: Callable[[Results, Path], None] | None = None
    notes: Callable[[Results], Iterable[str]] = field(default=lambda _: ())
    needs_all: bool = False
    notes_fail: bool = False
    outcome: Callable[[Run[SettingsT, PartT]], Outcome] | None = None

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Measure, write and print the results, and return the exit status."""
        try:
            return self._run(*self._parse(arguments))
        except RecordError as error:
            status, message = COULD_NOT_RUN, str(error)
        except (WorkerError, TooLarge, ExperimentError) as error:
            status, message = common.FAILED, str(error)
        print(f"python -m {self.module}: {message}", file=sys.stderr)
        return status

    def _parse(self, arguments: Sequence[str] | None) -> tuple[SettingsT, bool]:
        settings, switches, parser = common.parse_settings(
            self.settings,
            arguments,
            module=self.module,
            description=self.description,
            quick=self.quick,
            switches={},
        )
        common.check_signs(parser, settings, self.positive, self.natural)
        try:
            settings = self.check(settings, switches)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        return settings, "json" in switches

    def _run(self, settings: Any, as_json: bool) -> int:
        with ExitStack() as stack:
            ray, processes = getattr(settings, "ray", ""), getattr(settings, "workers", 1)
            files = self.files(settings)
            workers = stack.enter_context(open_workers(ray, processes=processes, files=files))
            records = {
                group: stack.enter_context(record)
                for group, record in (self.records or self._usual_records)(settings)
            }
            run = self._measure(settings, records, workers)
            if run.interrupted:
                hint = "; the same command continues" if records else ""
                done = f"interrupted after {len(run.lines)} of {len(run.parts)} parts{hint}"
                print(done, file=sys.stderr)
                if self.needs_all or not run.lines:
                    return common.INTERRUPTED
            outcome = (self.outcome or self._usual_outcome)(run)
            self._write(getattr(settings, "out", None), outcome.results)
        for note in outcome.notes:
            print(note, file=sys.stderr)
        print_results(outcome.results, outcome.texts, as_json=as_json)
        if self.file is not None and not as_json:
            print(f"results: {settings.out}")
        if run.interrupted:
            return common.INTERRUPTED
        return common.FAILED if outcome.failed else 0

    def _usual_records(self, settings: Any) -> Iterator[tuple[str, ResultFile]]:
        if self.file is None:
            return
        held = self.recorded
        depends_on = held(settings) if held else common.recorded_settings(settings, self.free)
        yield "", ResultFile(settings.out, self.file, self.kind, depends_on)

    def _usual_outcome(self, run: Run[SettingsT, PartT]) -> Outcome:
        results = self.results(run)
        notes = list(dict.fromkeys(self.notes(results)))
        failed = self.notes_fail and bool(notes)
        return Outcome(results, self.tables(results), notes, failed)

    def _measure(
        self, settings: SettingsT, records: Mapping[str, ResultFile], workers: Workers
    ) -> Run[SettingsT, PartT]:
        """Measure the parts that are missing from the records."""
        parts: Sequence[PartT] = ()
        keys: Sequence[Any] = ()
        found: dict[Any, Line] = {}
        with common.Interruptible() as session:
            parts = self.parts(settings)
            before = [(group, line) for group, one in records.items() for line in one.lines]
            if self.name_of is None:
                keys = range(len(parts))
                found = {place: line for place, (_, line) in enumerate(before)}
            else:
                keys = [(self.group_of(part), str(part)) for part in parts]
                found = {(group, self.name_of(line)): line for group, line in before}
            missing = {k: part for k, part in zip(keys, parts, strict=True) if k not in found}
            lines = (self.work or self._map)(
                settings, list(missing.values()), [line for _, line in before], workers
            )
            title = self.module.rpartition(".")[2]
            with report_progress(title, len(parts)) if parts else nullcontext(_ignore) as report:
                report("", len(parts) - len(missing))
                for key, part in missing.items():
                    group = self.group_of(part)
                    report(f"{group}: {part}" if group else str(part), 0)
                    found[key] = next(lines)
                    record = records.get(group)
                    if record is not None and self.is_kept(found[key]):
                        record.add(found[key])
                    report("", 1)
        done = {key: part for key, part in zip(keys, parts, strict=True) if key in found}
        in_order = [found[key] for key in done]
        return Run(settings, parts, list(done.values()), in_order, records, session.interrupted)

    def _map(
        self, settings: SettingsT, parts: Sequence[PartT], _: Sequence[Line], workers: Workers
    ) -> Iterator[Line]:
        assert self.run_part is not None
        return workers.map(partial(self.run_part, settings), parts)

    def _write(self, out: Path | None, results: Results) -> None:
        """Write the results and the figure. If the figure fails, the results are still written."""
        if self.file is None:
            if out is not None:
                common.write_json(out, results)
            return
        assert out is not None
        common.write_results(out, results)
        if self.figures is not None:
            try:
                self.figures(results, out)
            except OSError as error:
                print(f"{out}: no figure could be drawn: {describe_error(error)}", file=sys.stderr)
