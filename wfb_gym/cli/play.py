"""``play``: a person in either seat against any player; ``replay``: a transcript played again."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wfb_gym._commands import INTERRUPTED
from wfb_gym._progress import printed_lines
from wfb_gym.cli.parser import Commands, Parser, check_folder, tell_progress, whole_number
from wfb_gym.seats import SEATS, seat_number

if TYPE_CHECKING:
    from wfb_gym.transcripts import Transcript

_DESCRIPTION = """\
Play either seat of a scenario against a scripted player, a saved model or an agent.
At every decision the choices are numbered: answer with a number or with its first words,
such as fireball, 3 dice or pass. "?" shows what the dice can do and what every choice is
worth: exactly where that can be solved soon, else by an estimate that is marked as one.
"help" lists what else is understood; "quit", Ctrl-D or Ctrl-C ends the battle."""
_EXAMPLES = """\
examples:
  python -m wfb_gym play
      archmage-duel as the caster, against the veteran
  python -m wfb_gym play border-skirmish --seat dispeller --opponent greedy --seed 7
  python -m wfb_gym play orc-shaman-hunt --odds --transcript hunt.jsonl
  python -m wfb_gym play apprentice --seat dispeller --opponent apprentice/caster
      against a network that comes with the package (the extra "train")

opponents: random, greedy, veteran, optimal; expectimax, mcts, phase-search, search;
or, with the extra "train", a file ending in .zip (Stable-Baselines3) or .npz (a
saved network), or one of the networks that come with the package:
"""


def add_to(commands: Commands) -> None:
    """Add both commands."""
    play = commands.add_parser(
        "play",
        help="play a battle in the terminal",
        description=_DESCRIPTION,
        epilog=_EXAMPLES + "".join(f"  {name}\n" for name in _networks()),
    )
    play.add_argument("scenario", nargs="?", default="archmage-duel", help="bundled name or file")
    play.add_argument("--seat", choices=SEATS, default="caster", help="your seat")
    play.add_argument(
        "--opponent",
        default="veteran",
        metavar="NAME",
        help="random, greedy, veteran, optimal or any other agent, a saved model ending in "
        ".zip or .npz, or one that comes with the package, such as apprentice/caster "
        "(default: veteran)",
    )
    play.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="seed of the dice (default: another each time)",
    )
    play.add_argument("--odds", action="store_true", help='show at every decision what "?" shows')
    play.add_argument(
        "--yes", action="store_true", help="name a spell at once, without another question"
    )
    play.add_argument("--transcript", metavar="FILE", help="write the battle to a new file")
    play.add_argument(
        "--public",
        action="store_true",
        help="leave out of the file what was dealt of hidden items and not used",
    )
    play.set_defaults(run=partial(_play, play), is_interactive=True)
    replay = commands.add_parser(
        "replay",
        help="print a transcript",
        description="Play a transcript again, check every line by the rules, and print what "
        "happened.",
    )
    replay.add_argument("transcript", help="a file that `play --transcript` or Python wrote")
    replay.add_argument(
        "--table", action="store_true", help="show where both sides stand at the end"
    )
    replay.add_argument(
        "--html",
        metavar="OUT",
        help="write a review of every decision to a file that a browser opens, instead of printing",
    )
    replay.set_defaults(run=partial(_replay, replay))


def _networks() -> list[str]:
    """Return `wfb_gym.players.registry.SHIPPED` without its room, which takes long to import."""
    folder = Path(__file__).parent.parent / "players" / "policies"
    paths = sorted(folder.rglob("*.npz"))
    return [path.relative_to(folder).with_suffix("").as_posix() for path in paths]


def _play(parser: Parser, options: argparse.Namespace) -> None:
    from wfb_gym.cli.console import ConsoleGame
    from wfb_gym.scenario import ScenarioError, load_scenario
    from wfb_gym.solver import TooLarge

    if options.seed is not None and options.seed < 0:
        parser.error(f"--seed: expected 0 or more, found {options.seed}")
    if options.transcript:
        check_folder(parser, "--transcript", options.transcript)
    if options.transcript and Path(options.transcript).exists():
        parser.error(
            f"--transcript: expected a file that does not exist yet, found {options.transcript}; "
            "another name keeps the battle in it"
        )
    if options.public and not options.transcript:
        parser.error("--public: expected --transcript with it, found none")
    try:
        scenario = load_scenario(options.scenario)
        with printed_lines("play"):  # an optimal opponent solves the scenario
            game = ConsoleGame(
                scenario,
                seat_number(options.seat),
                options.opponent,
                options.seed,
                confirm=not options.yes,
            )
    except TooLarge as error:
        parser.error(f"--opponent optimal: {error}; phase-search plays scenarios of any size")
    except (ScenarioError, ValueError, OSError, ImportError) as error:
        parser.error(str(error))
    game.play(always_odds=options.odds)
    if options.transcript:
        from wfb_gym.transcripts import write

        try:
            write(game.transcript(), options.transcript, public=options.public)
        except OSError as error:
            parser.error(f"--transcript: {error}")
        print(f"The battle is in {options.transcript}.")
    if game.interrupted:
        raise SystemExit(INTERRUPTED)


def _replay(parser: Parser, options: argparse.Namespace) -> None:
    from wfb_gym.render.ansi import AnsiStyle, event_lines, position_lines
    from wfb_gym.transcripts import TranscriptError, read, replay
    from wfb_gym.view.hidden_sets import EVERYBODY
    from wfb_gym.view.names import points_phrase
    from wfb_gym.view.position import view_position

    try:
        transcript = read(options.transcript)
        if options.html:
            _write_review(parser, transcript, options.html)
            return
        narrated, events = replay(transcript)
    except (OSError, TranscriptError) as error:
        parser.error(str(error))
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
        known = () if transcript.is_public else EVERYBODY
        view = view_position(narrated.names, narrated.visible, 0, known)
        print("\n".join(position_lines(view, style)))


def _write_review(parser: Parser, transcript: "Transcript", path: str) -> None:
    from wfb_gym.files import write_text_whole
    from wfb_gym.transcripts.review import PUBLIC_REFUSED, review
    from wfb_gym.view.names import capital, plural

    try:
        from wfb_gym.render.review_page import review_page
    except ImportError as error:
        parser.error(f"--html: {error}")
    check_folder(parser, "--html", path)
    if transcript.is_public:
        parser.error(f"--html: {PUBLIC_REFUSED}")

    def tell(done: int, of: int) -> None:
        tell_progress(f"reviewing, {done} of {plural(of, 'step')}")

    reviewed = review(transcript, progress=tell)
    tell_progress("")
    try:
        write_text_whole(path, review_page(reviewed))
    except OSError as error:
        parser.error(f"--html: {path}: {error.strerror or error}")
    for army, name in enumerate(reviewed.names.armies):
        print(f"{capital(name)}: {reviewed.summary(army)}")
    print(f"The review is in {path}.")
