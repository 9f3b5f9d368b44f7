"""``play``: play a battle in the terminal. ``replay``: replay a transcript."""

import sys
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from wfb_gym._commands import INTERRUPTED
from wfb_gym._progress import printed_lines, show_line
from wfb_gym.cli.parser import Command, UsageError, check_folder, option, report_write_errors
from wfb_gym.cli.practise import offer_practice
from wfb_gym.opponents.policy_spec import NAMES, SHIPPED
from wfb_gym.seats import SEATS, seat_number

if TYPE_CHECKING:
    from wfb_gym.transcripts import SharedPosition, Transcript

_DEFAULT = "archmage-duel"
_DESCRIPTION = """\
Play either seat of a scenario against a scripted player, a saved model or an agent.
At every decision the choices are numbered: answer with a number or with the first words of
a choice, such as fireball, 3 dice or pass. "?" shows the odds of the dice and the value of
every choice: exact if it can be solved quickly, otherwise an estimate, which is marked.
"help" lists all commands; "quit", Ctrl-D or Ctrl-C ends the battle."""
_EPILOG = """\
examples:
  python -m wfb_gym play
      archmage-duel as the caster, against the veteran
  python -m wfb_gym play border-skirmish --seat dispeller --opponent greedy --seed 7
  python -m wfb_gym play orc-shaman-hunt --odds --transcript hunt.jsonl
  python -m wfb_gym play --position ID
      from a position on, whose ID the command "share" printed
  python -m wfb_gym play apprentice --seat dispeller --opponent apprentice/caster
      against a network that comes with the package (the extra "train")

opponents: {names};
or, with the extra "train", a file ending in .zip (Stable-Baselines3) or .npz (a
saved network), or one of the networks that come with the package:
  {shipped}
"""


@dataclass(frozen=True)
class PlayOptions:
    """Options of ``play``.

    Attributes:
        scenario: bundled name or file (default: archmage-duel).
        position: start at the position with this id, as printed by "share" during a game.
        seat: your seat.
        opponent: an opponent of the list below, a saved model ending in .zip or .npz, or a network
            of the package, such as apprentice/caster.
        seed: seed of the dice (default: random).
        odds: show odds and values at every decision, as "?" does.
        yes: nominate spells without confirmation.
        transcript: write the battle to a new file.
        public: leave hidden items that were not used out of the file.
        no_history: do not keep the game in your history (see practise).
    """

    scenario: str | None = option(None, positional=True)
    position: str | None = option(None, metavar="ID")
    seat: str = option("caster", choices=SEATS)
    opponent: str = option("veteran", metavar="NAME")
    seed: int | None = option(None, metavar="N")
    odds: bool = False
    yes: bool = False
    transcript: str = option("", metavar="FILE")
    public: bool = False
    no_history: bool = False


@dataclass(frozen=True)
class ReplayOptions:
    """Options of ``replay``.

    Attributes:
        transcript: transcript file, written by `play --transcript` or by Python code; or a battle
            in one line, as printed at the end of a game.
        table: show both sides at the end.
        html: write a review of every decision to this HTML file instead of printing.
    """

    transcript: str = option(positional=True)
    table: bool = False
    html: str = option("", metavar="OUT")


def _play(options: PlayOptions) -> None:
    from wfb_gym.cli.console import ConsoleGame
    from wfb_gym.scenario import load_scenario
    from wfb_gym.solver import TooLarge
    from wfb_gym.transcripts import game_line
    from wfb_gym.transcripts.text_codes import is_named

    if options.seed is not None and options.seed < 0:
        raise UsageError(f"--seed: expected 0 or more, found {options.seed}")
    if options.transcript:
        check_folder("--transcript", options.transcript)
    if options.transcript and Path(options.transcript).exists():
        raise UsageError(
            f"--transcript: expected a file that does not exist yet, found {options.transcript}; "
            "choose another name"
        )
    if options.public and not options.transcript:
        raise UsageError("--public: expected --transcript with it, found none")
    start = None
    try:
        if options.position is not None:
            start = _position(options)
        scenario = load_scenario(options.scenario or _DEFAULT) if start is None else start.scenario
        with printed_lines("play"):  # an optimal opponent solves the scenario
            game = ConsoleGame(
                scenario,
                seat_number(options.seat),
                options.opponent,
                options.seed,
                start=start,
                confirm=not options.yes,
            )
    except TooLarge as error:
        hint = "phase-search plays scenarios of any size"
        raise UsageError(f"--opponent optimal: {error}; {hint}") from error
    except (ValueError, OSError, ImportError) as error:
        raise UsageError(str(error)) from error
    game.play(always_odds=options.odds)
    transcript = game.transcript() if start is None else None
    if transcript is not None and transcript.over and is_named(scenario):
        line = game_line(transcript.published() if options.public else transcript)
        print(f"The battle in one line, for replay: {line}")
    if options.transcript:
        from wfb_gym.transcripts import write

        try:
            write(game.transcript(), options.transcript, public=options.public)
        except OSError as error:
            raise UsageError(f"--transcript: {error}") from error
        print(f"The battle is in {options.transcript}.")
        command = f"python -m wfb_gym replay {quote(options.transcript)} --html review.html"
        print(f"To review every decision: {command}")
    if transcript is not None and sys.stdin.isatty() and not options.no_history:
        try:
            offer_practice(transcript)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
    if game.interrupted:
        raise SystemExit(INTERRUPTED)


def _position(options: PlayOptions) -> "SharedPosition":
    """Return the position to start from."""
    from wfb_gym.transcripts import TextCodeError, position_from_id

    for name in ("scenario", "transcript"):
        if getattr(options, name):
            label = "--transcript" if name == "transcript" else name
            raise UsageError(
                f"{label}: expected none with --position, found {getattr(options, name)}"
            )
    try:
        return position_from_id(options.position or "")
    except TextCodeError as error:
        raise UsageError(f"--position: {error}") from error


def _replay(options: ReplayOptions) -> None:
    from wfb_gym.render.ansi import AnsiStyle, event_lines, position_lines
    from wfb_gym.transcripts import (
        TextCodeError,
        TranscriptError,
        read,
        replay,
        transcript_from_line,
    )
    from wfb_gym.transcripts.game_lines import is_game_line
    from wfb_gym.view.hidden_sets import ALL_ARMIES
    from wfb_gym.view.names import points_phrase
    from wfb_gym.view.position import view_position

    try:
        is_line = is_game_line(options.transcript)
        transcript = (transcript_from_line if is_line else read)(options.transcript)
        if options.html:
            _write_review(transcript, options.html)
            return
        narrated, events = replay(transcript)
    except (OSError, TextCodeError, TranscriptError) as error:
        raise UsageError(str(error)) from error
    style = AnsiStyle(None if sys.stdout.isatty() else False)
    first, other = transcript.players
    dice = "dice thrown by hand" if transcript.seed is None else f"seed {transcript.seed}"
    if transcript.is_public:
        dice = "a public transcript, without hidden items that were not shown"
    print(f"{transcript.scenario.name}: {first} against {other}, {dice}")
    for line in event_lines(events, style):
        print(line)
    if not transcript.over:
        print(f"It was broken off here: {points_phrase(narrated.names, transcript.points)}.")
    if options.table:
        known = () if transcript.is_public else ALL_ARMIES
        view = view_position(narrated.names, narrated.visible, 0, known, with_points=False)
        print("\n".join(position_lines(view, style)))


def _write_review(transcript: "Transcript", path: str) -> None:
    from wfb_gym.files import atomic_write_text
    from wfb_gym.transcripts.review import PUBLIC_REFUSED, review
    from wfb_gym.view.names import capital, plural

    try:
        from wfb_gym.render.review_page import review_page
    except ImportError as error:
        raise UsageError(f"--html: {error}") from error
    check_folder("--html", path)
    if transcript.is_public:
        raise UsageError(f"--html: {PUBLIC_REFUSED}")

    def show_progress(done: int, of: int) -> None:
        show_line(f"reviewing, {done} of {plural(of, 'step')}")

    try:
        reviewed = review(transcript, progress=show_progress)
    finally:
        show_line("")
    page = review_page(reviewed)
    with report_write_errors("--html", path):
        atomic_write_text(path, page)
    for army, name in enumerate(reviewed.names.armies):
        print(f"{capital(name)}: {reviewed.summary(army)}")
    print(f"The review is in {path}.")


COMMANDS = (
    Command(
        name="play",
        help="play a battle in the terminal",
        options=PlayOptions,
        run=_play,
        description=_DESCRIPTION,
        epilog=_EPILOG.format(names=", ".join(NAMES), shipped="\n  ".join(SHIPPED)),
        is_interactive=True,
    ),
    Command(
        name="replay",
        help="print a transcript",
        options=ReplayOptions,
        run=_replay,
        description="Replay a transcript, check every line against the rules, and print the "
        "battle.",
    ),
)
