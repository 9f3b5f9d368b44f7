"""``train``: train a small policy and print its exact score while it learns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wfb_gym.cli.parser import (
    Command,
    UsageError,
    check_folder,
    option,
    report_write_errors,
    whole_number,
)
from wfb_gym.seats import SEATS

NUM_ENVS = 128
ROLLOUT = 16  # decisions of each environment between two updates
GRADES = 10  # approximate maximum number of points on the learning curve after the first
DPI = 120


@dataclass(frozen=True)
class TrainOptions:
    """Options of ``train``.

    Attributes:
        scenario: bundled name or file; it must be small enough to be solved.
        seat: seat of the learner.
        steps: number of decisions to learn from.
        seed: random seed for the network and the dice.
        out: file of the trained model, .zip; the learning curve is saved next to it as .png
            (default: SCENARIO-SEAT.zip).
    """

    scenario: str = option("archmage-duel", positional=True)
    seat: str = option("caster", choices=SEATS)
    steps: int = option(60_000, type=whole_number)
    seed: int = option(0, type=whole_number)
    out: Path | None = None


def _run(options: TrainOptions) -> None:
    for name, low, high in (("steps", 1, 2**40), ("seed", 0, 2**32 - 1)):
        value = getattr(options, name)
        if not low <= value <= high:
            raise UsageError(f"--{name}: expected a number from {low} to {high}, found {value}")
    try:
        import torch
        from matplotlib.figure import Figure  # noqa: F401 - missing before the training, not after
        from sb3_contrib import MaskablePPO

        from wfb_gym.interop.sb3 import PhaseVecEnv
    except ImportError as error:
        needed = 'training needs Stable-Baselines3 and Matplotlib: pip install "wfb-gym[train]"'
        raise UsageError(f"{needed} ({error})") from error
    from wfb_gym import solver
    from wfb_gym.scenario import load_scenario

    try:
        scenario = load_scenario(options.scenario)
        solution = solver.solve(scenario)
        opponent = "optimal:0.2"  # one decision in five is random, so that no position is unknown
        envs = PhaseVecEnv(NUM_ENVS, options.seat, scenario=scenario, opponent=opponent)
    except ValueError as error:
        raise UsageError(str(error)) from error
    path = options.out or Path(f"{scenario.name}-{options.seat}.zip")
    path = path if path.suffix == ".zip" else path.with_name(f"{path.name}.zip")
    check_folder("--out", path)
    torch.set_num_threads(1)  # faster for small networks
    model = MaskablePPO(
        "MlpPolicy", envs, gamma=1.0, n_steps=ROLLOUT, batch_size=512, learning_rate=1e-3,
        seed=options.seed,
    )  # fmt: skip
    print(f"{scenario.name}, {options.seat}: 100 is optimal play, 0 is as good as random play")
    curve = []
    share = max(NUM_ENVS * ROLLOUT, options.steps // GRADES)
    while True:
        score = solver.normalised_score(solution, model, seat=options.seat)
        if score.score is None:
            raise UsageError(f"{scenario.name}: the {options.seat} cannot win any points")
        curve.append((model.num_timesteps, score.score))
        points = f"guarantees {score.guaranteed:z.2f} of {score.optimum:z.2f} points"
        print(f"{model.num_timesteps:>9,} steps   score {score.score:z6.1f}   {points}", flush=True)
        left = options.steps - model.num_timesteps
        if left <= 0:
            break
        model.learn(min(share, left), reset_num_timesteps=False)
    with report_write_errors("--out", path):
        model.save(path)
        _draw(curve, f"{scenario.name}, {options.seat}", path.with_suffix(".png"))
    print(f"saved {path} and {path.with_suffix('.png')}")


def _draw(curve: Sequence[tuple[int, float]], title: str, path: Path) -> None:
    """Draw the learning curve against optimal play."""
    from matplotlib.figure import Figure

    from wfb_gym.files import save_figure

    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*curve, strict=True), marker="o")
    axes.axhline(100.0, color="black", linestyle="--", linewidth=1.0, label="optimal play")
    axes.set(title=title, xlabel="steps", ylabel="exact score")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    save_figure(figure, path, DPI)


COMMAND = Command(
    name="train",
    help="train a small policy and print its exact score",
    options=TrainOptions,
    run=_run,
    description="Train a policy with MaskablePPO against an opponent that plays optimally, except\n"
    "for one random decision in five, and print its exact score while it learns. Needs\n"
    'the extra "train". In the repository, agents/ has more learners.',
)
