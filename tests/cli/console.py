"""Battles in the terminal, with the answers typed in advance."""

from collections.abc import Iterable

from wfb_gym.cli.console import ConsoleGame
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts import SharedPosition


def play_in_console(
    scenario: str | Scenario,
    answers: Iterable[str],
    *,
    seat: int = 0,
    opponent: str = "veteran",
    seed: int = 3,
    confirm: bool = False,
    start: SharedPosition | None = None,
) -> tuple[ConsoleGame, list[str]]:
    """Play a battle with these answers; returns the lines of prompts, answers and output."""
    shown: list[str] = []
    given = iter(answers)

    def ask(prompt: str) -> str:
        try:
            answer = next(given)
        except StopIteration:
            raise EOFError from None
        shown.append(f"{prompt}{answer}")
        return answer

    game = ConsoleGame(
        load_scenario(scenario), seat, opponent, seed,
        start=start, confirm=confirm, ask=ask, show=shown.append,
    )  # fmt: skip
    game.play()
    return game, "\n".join(shown).splitlines()
