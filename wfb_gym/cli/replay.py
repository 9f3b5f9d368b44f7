"""``replay``: a transcript, played again by the rules and told."""

import argparse
import sys
from functools import partial

from wfb_gym.cli.parser import Commands, Parser


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="tell a transcript",
        description="Play a transcript again, check every line by the rules, and tell it.",
    )
    parser.add_argument("transcript", help="a file that `play --transcript` or Python wrote")
    parser.add_argument(
        "--table", action="store_true", help="show where both sides stand in the end"
    )
    parser.set_defaults(run=partial(_run, parser))


def _run(parser: Parser, given: argparse.Namespace) -> None:
    from wfb_gym.render.ansi import Paint, standing, tale
    from wfb_gym.transcripts import TranscriptError, read, replay
    from wfb_gym.transcripts.wording import points_in_words

    try:
        transcript = read(given.transcript)
        telling, events = replay(transcript)
    except (OSError, TranscriptError) as error:
        parser.error(str(error))
    paint = Paint(None if sys.stdout.isatty() else False)
    first, other = transcript.players
    dice = "dice thrown by hand" if transcript.seed is None else f"seed {transcript.seed}"
    print(f"{transcript.scenario.name}: {first} against {other}, {dice}")
    for line in tale(events, paint):
        print(line)
    if not transcript.over:
        print(f"It was broken off here: {points_in_words(telling.names, transcript.points)}.")
    if given.packed:
        print("\n".join(standing(telling.scenario, telling.shown, paint=paint)))
