"""Write, check and restore a `Trainer`'s state in a checkpoint."""

import hashlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import (
    CheckpointError,
    check_alike,
    check_entries,
    check_generator,
    check_number,
    check_optimiser,
    check_torch_generator,
    optimiser_state,
    restore_optimiser,
    save_checkpoint,
)
from agents.run_folder import check_same_settings
from agents.self_play.settings import RunSettings
from experiments.common import settings_as_json
from wfb_gym._records import Records
from wfb_gym.envs.scenario_set import resolve_scenarios
from wfb_gym.files import wrap_read_errors
from wfb_gym.packing.records import PackedScenario

if TYPE_CHECKING:
    from agents.train_fast import Learner, Trainer


class _CurvePoint(BaseModel):
    """A point on a learning curve, from a checkpoint."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    seconds: float
    frames: int
    scores: dict[Literal["caster", "dispeller"], float]
    points: dict[Literal["caster", "dispeller"], dict[str, dict[str, float]]] = {}


_MAX_POINTS = 10_000
"""Maximum number of points on a curve, because a corrupt file may hold a million."""
_CURVE = TypeAdapter(Annotated[list[_CurvePoint], Field(max_length=_MAX_POINTS)])


def check_curve(curve: Any) -> None:
    """Raise a ValueError unless a checkpoint's learning curve is valid."""
    _CURVE.validate_python(curve)


def save_trainer(trainer: "Trainer") -> None:
    """Write a checkpoint of all processes into the run's folder. All processes call this."""
    parts = trainer.group.gather(_get_state(trainer))
    if parts:
        state = {
            "settings": settings_as_json(trainer.settings),
            "scenarios": digest_scenarios(trainer.battles.packed_scenarios),
            "curve": trainer.curve,
            "parts": parts,
        }
        save_checkpoint(trainer.settings.out, state)


def _get_state(trainer: "Trainer") -> dict[str, Any]:
    return {
        "learners": [_get_learner_state(learner) for learner in trainer.learners],
        "rng": trainer.rng.bit_generator.state,
        "epsilon": torch.from_numpy(trainer.epsilon),
        "from_archive": torch.from_numpy(trainer.from_archive),
        "battles": trainer.battles.get_state(),
        "archive": trainer.archive.get_state(),
        "counts": (trainer.frames, trainer.learned, trainer.seconds),
    }


def restore_trainer(trainer: "Trainer", state: dict[str, Any]) -> None:
    """Continue from a checkpoint written by `save_trainer` that passed `check_checkpoint`.

    Raises:
        CheckpointError: if the checkpoint does not fit this run. Nothing is changed.
    """
    with wrap_read_errors(
        trainer.settings.out / CHECKPOINT, "the state of this run", CheckpointError
    ):
        _check_state(trainer, state)
    own = state["parts"][trainer.group.rank]
    for learner, learned in zip(trainer.learners, own["learners"], strict=True):
        _restore_learner(learner, learned)
    trainer.rng.bit_generator.state = own["rng"]
    trainer.epsilon[:] = own["epsilon"].numpy()
    trainer.from_archive[:] = own["from_archive"].numpy()
    trainer.archive.set_state(own["archive"])
    trainer.decisions = trainer.battles.set_state(own["battles"])
    trainer.frames, trainer.learned, trainer.seconds = own["counts"]
    trainer.curve[:] = state["curve"]


def _check_state(trainer: "Trainer", state: dict[str, Any]) -> None:
    """Raise an error, usually a ValueError, unless all processes can continue from a state."""
    check_entries("parts", state["parts"], trainer.group.count)
    for rank, part in enumerate(state["parts"]):
        _check_part(trainer, f"parts[{rank}]", part)
    check_curve(state["curve"])


def _check_part(trainer: "Trainer", where: str, part: Any) -> None:
    own = _get_state(trainer)
    own |= {name: part[name] for name in ("learners", "archive")}
    check_alike(where, part, own)
    check_entries(f"{where}.learners", part["learners"], len(trainer.learners))
    for seat, (learner, learned) in enumerate(zip(trainer.learners, part["learners"], strict=True)):
        _check_learner(learner, f"{where}.learners[{seat}]", learned)
    check_generator(f"{where}.rng", part["rng"], trainer.rng)
    epsilon = part["epsilon"]
    if not ((epsilon >= 0.0) & (epsilon <= 1.0)).all():
        raise ValueError(f"{where}.epsilon: expected 0 to 1, found other numbers")
    for k, count in enumerate(part["counts"]):
        check_number(f"{where}.counts[{k}]", count)
    trainer.archive.check_state(f"{where}.archive", part["archive"], trainer.battles)
    trainer.battles.read_state(part["battles"])


def _get_learner_state(learner: "Learner") -> dict[str, Any]:
    return {
        "network": learner.network.state_dict(),
        "optimiser": {"state": optimiser_state(learner.optimiser)},
        "rng": learner.rng.bit_generator.state,
        "torch_rng": learner.torch_rng.get_state(),
    }


def _check_learner(learner: "Learner", where: str, state: Any) -> None:
    own = _get_learner_state(learner)
    check_alike(where, state, {**own, "optimiser": {"state": state["optimiser"]["state"]}})
    parameters = list(learner.network.parameters())
    check_optimiser(f"{where}.optimiser.state", state["optimiser"]["state"], parameters)
    check_generator(f"{where}.rng", state["rng"], learner.rng)
    check_torch_generator(f"{where}.torch_rng", state["torch_rng"], learner.torch_rng)


def _restore_learner(learner: "Learner", state: dict[str, Any]) -> None:
    learner.network.load_state_dict(state["network"])
    restore_optimiser(learner.optimiser, state["optimiser"]["state"])
    learner.rng.bit_generator.state = state["rng"]
    learner.torch_rng.set_state(state["torch_rng"])


def check_checkpoint(state: dict[str, Any], settings: RunSettings) -> None:
    """Raise `CheckpointError` if a checkpoint has different settings or scenarios."""
    names = settings.scenario
    found = resolve_scenarios(names if len(names) > 1 else names[0])
    with wrap_read_errors(settings.out / CHECKPOINT, "the settings of a run", CheckpointError):
        check_same_settings(state["settings"], settings_as_json(settings), settings.free)
        if state["scenarios"] != digest_scenarios(found.packed_scenarios):
            raise CheckpointError(
                f"--scenario: expected {' '.join(names)} as before, found that it has changed since"
            )


def digest_scenarios(packed_scenarios: Records[PackedScenario]) -> str:
    """Return a digest of scenarios, used to detect changes behind the same names."""
    return hashlib.sha256(packed_scenarios.tobytes()).hexdigest()
