"""Battles in the terminal, with the answers typed in advance."""

from collections.abc import Callable, Iterable

from wfb_gym.cli.console import ConsoleGame
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts import SharedPosition


def scripted(answers: Iterable[str]) -> tuple[Callable[[str], str], list[str]]:
    """Return a function that gives these answers, and the list that receives prompts with them."""
    shown: list[str] = []
    given = iter(answers)

    def ask(prompt: str) -> str:
        answer = next(given, None)
        if answer is None:
            raise EOFError
        shown.append(f"{prompt}{answer}")
        return answer

    return ask, shown


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
    ask, shown = scripted(answers)
    game = ConsoleGame(
        load_scenario(scenario), seat, opponent, seed,
        start=start, confirm=confirm, ask=ask, show=shown.append,
    )  # fmt: skip
    game.play()
    return game, "\n".join(shown).splitlines()
