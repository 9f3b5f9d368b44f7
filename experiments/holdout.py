"""Grade policies in hold-out scenarios, whose seeds are secret until they are published.

    python -m experiments.holdout greedy runs/my-policy/seed-0.npz --secret holdout-secret.json
    python -m experiments.holdout --new --secret holdout-secret.json

The scenarios are of the kinds of the generated track. Their first seeds follow from a secret, which
the maintainers keep; `experiments/leaderboards/holdout.json` has only its salted hash (SHA-256). So
no submission can be trained or tuned on them, and when the secret is published, every grade can be
repeated. --new makes a secret and writes its hash.

Graded kinds are stored in FOLDER/parts.jsonl, and the same command continues an interrupted run.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.holdout")

import json
import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from experiments.experiment import Experiment
from experiments.leaderboards.protocol import GENERATED
from experiments.leaderboards.searching import grade_found
from experiments.outcomes import Line, Outcome, Results, Run
from experiments.records import ResultFile
from experiments.statistics import fifth_percentile, interquartile_mean, share_of_stakes
from experiments.tables import ResultTable
from wfb_gym.cli.parser import option
from wfb_gym.files import atomic_write_text, read_limited
from wfb_gym.generating import TEST_SEEDS
from wfb_gym.players.registry import check_agent
from wfb_gym.seats import SEATS

HASH = Path(__file__).parent / "leaderboards" / "holdout.json"
_PUBLIC = 2**24
"""Number of test seeds at the start that are public; the benchmark's are among them."""
_MARGIN = 2**20
"""Number of test seeds at the end that are no first seeds."""
_BYTES = 1000
"""Maximum size of a file with a secret or a hash."""


@dataclass(frozen=True)
class Settings:
    """Settings for the grading.

    Attributes:
        policies: agents or saved models.
        secret: file with the secret.
        new: make a secret, and write its hash.
        kind: kinds of generated scenarios.
        count: number of scenarios of each kind.
        workers: processes on this machine that grade.
        folder: folder of the graded kinds.
    """

    policies: tuple[str, ...] = option((), positional=True, metavar="POLICY")
    secret: Path = Path("holdout-secret.json")
    new: bool = False
    kind: tuple[str, ...] = option(tuple(GENERATED), choices=tuple(GENERATED), metavar="KIND")
    count: int = 20
    workers: int = 1
    folder: Path = Path("runs/holdout")


def _check(settings: Settings, _: Collection[str]) -> Settings:
    if settings.new:
        if settings.policies or settings.secret.exists():
            found = "policies" if settings.policies else settings.secret
            raise ValueError(f"--new: expected no policies and a new file, found {found}")
        return settings
    if not settings.policies:
        raise ValueError("expected policies, or --new to make a secret")
    for policy in settings.policies:
        check_agent(policy, "policy")
    read_secret(settings.secret)
    return settings


def make_secret(path: Path, hash_path: Path) -> None:
    """Write a new secret, and its salted hash."""
    text = json.dumps({"salt": secrets.token_hex(16), "secret": secrets.token_hex(16)}) + "\n"
    atomic_write_text(path, text)
    atomic_write_text(hash_path, json.dumps({"sha256": _digest(text)}) + "\n")


def read_secret(path: Path) -> str:
    """Return the secret's text.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not the secret with the committed hash.
    """
    text = read_limited(path, _BYTES).decode("utf-8", "replace")
    if _digest(text) != _known_hash():
        expected = f"the secret with the SHA-256 {_known_hash()}"
        raise ValueError(f"{path}: expected {expected}, found another")
    return text


def _known_hash() -> str:
    return str(json.loads(HASH.read_text(encoding="utf-8"))["sha256"])


def holdout_seed(secret: str, kind: str) -> int:
    """Return the first seed of a kind's hold-out scenarios."""
    number = int(_digest(f"{secret}{kind}"), 16)
    return TEST_SEEDS.start + _PUBLIC + number % (len(TEST_SEEDS) - _PUBLIC - _MARGIN)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def grade_kind(settings: Settings, kind: str) -> Line:
    """Return the scores of the policies in a kind's hold-out scenarios, and the points at stake."""
    seeds = range(holdout_seed(read_secret(settings.secret), kind), TEST_SEEDS.stop)
    policies = dict.fromkeys(SEATS, settings.policies)
    return {"kind": kind} | grade_found(policies, kind, settings.count, seeds)


def _records(settings: Settings) -> Iterator[tuple[str, ResultFile]]:
    if not settings.new:
        about = {
            "policies": list(settings.policies),
            "count": settings.count,
            "sha256": _known_hash(),
        }
        yield "", ResultFile(settings.folder, "parts.jsonl", "hold-out", about)


def _results(run: Run[Settings, str]) -> Results:
    rows: list[dict[str, Any]] = []
    for place, policy in enumerate(run.settings.policies):
        for seat in SEATS:
            kinds = [line["scores"][seat][place] for line in run.lines]
            scores = np.array([score for kind in kinds for score in kind])
            stakes = np.array([each for line in run.lines for each in line["stakes"][seat]])
            rows.append(
                {
                    "policy": policy,
                    "seat": seat,
                    "scenarios": len(scores),
                    "mean": float(scores.mean()),
                    "interquartile_mean": float(interquartile_mean(scores[:, None])),
                    "five_percent": float(fifth_percentile(scores[None])),
                    "share": float(share_of_stakes(scores[None], stakes)),
                }
            )
    return run.document(scores=rows)


def _rows(results: Results) -> list[list[str]]:
    numbers = ("mean", "interquartile_mean", "five_percent", "share")
    rows = [
        ["policy", "seat", "scenarios", "mean", "interquartile mean", "5th percentile",
         "share of points at stake, %"]
    ]  # fmt: skip
    for each in results["scores"]:
        cells = [f"{each[name]:.1f}" for name in numbers]
        rows.append([each["policy"], each["seat"], str(each["scenarios"]), *cells])
    return rows


SCORES = ResultTable("exact scores in hold-out scenarios", _rows, (0, 1))


def _outcome(run: Run[Settings, str]) -> Outcome:
    settings = run.settings
    if settings.new:
        make_secret(settings.secret, HASH)
        return Outcome({}, (), [f"written: {settings.secret}, which stays secret, and {HASH}"])
    if not run.lines:
        return Outcome({}, ())
    results = _results(run)
    return Outcome(results, [SCORES.text(results)])


EXPERIMENT = Experiment(
    module="experiments.holdout",
    description=__doc__,
    settings=Settings,
    quick={"kind": ("duel-500",), "count": 2},
    positive=("count", "workers"),
    file=None,
    records=_records,
    check=_check,
    parts=lambda settings: () if settings.new else settings.kind,
    run_part=grade_kind,
    name_of=lambda line: str(line["kind"]),
    outcome=_outcome,
)
main = EXPERIMENT.main
