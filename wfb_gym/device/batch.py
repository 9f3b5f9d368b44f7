"""A batch of environments on a device: actions in, tensors out."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from wfb_gym.device.building import emulated, ptx_of
from wfb_gym.device.launching import CudaKernel, processor_of
from wfb_gym.device.lowering import (
    Address,
    Constant,
    Kernel,
    KernelError,
    Scalar,
    flatten,
    variables,
)
from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.device_thread import WORDS
from wfb_gym.envs.kernel import ENVIRONMENT, Autoreset, BatchStep
from wfb_gym.envs.scenario_set import ScenarioLike
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.players.interface import Opponent

_THREADS, _REGISTERS = 128, 128
_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)


class DeviceStep(NamedTuple):
    """The results of a step. Every step overwrites the same tensors."""

    observations: torch.Tensor  # float32 (n, size)
    action_mask: torch.Tensor  # bool (n, actions): the actions that are now legal
    rewards: torch.Tensor  # float64 (n,): points / points_per_reward
    terminations: torch.Tensor  # bool (n,)
    illegal: torch.Tensor  # bool (n,): whether an illegal action was replaced
    # float32 (n, size): last observations of ended episodes in SAME_STEP mode; other rows are
    # undefined. Without this mode, (0, size).
    final: torch.Tensor


class DeviceBatch:
    """Environments that step together on a GPU and give the same results as on the CPU.

    `reset` runs on the CPU. Ended episodes restart on the GPU.

    Args:
        num_envs: number of environments.
        scenario: as in `wfb_gym.envs.vector.MagicPhaseVectorEnv`, like the next four arguments.
        opponent: the names of scripted players.
        limits: sizes of the spaces.
        history: whether observations include the history.
        features: "all" or "raw".
        seat: the learner's seat.
        mode: when to restart ended episodes.
        points_per_reward: number of points that give a reward of 1.
        device: "cuda", "cuda:1" and so on, or "cpu" to run the GPU's kernel on the CPU, which
            finds errors without a GPU but is slower than `wfb_gym.envs.vector`.
        threads: number of threads in a block of the GPU.
        registers: maximum number of registers of a thread.

    Attributes:
        host: the same environments on the CPU. They are up to date after `download`.
        arguments: the flattened arguments of the kernel.

    Raises:
        ValueError: if an argument is invalid or an opponent is not a scripted player.
        KernelError: if there is no GPU, or the kernel cannot be compiled.
    """

    def __init__(  # noqa: PLR0913 - the arguments of the vector environment
        self,
        num_envs: int,
        scenario: ScenarioLike | Sequence[ScenarioLike] = "archmage-duel",
        opponent: Opponent | Sequence[Opponent] = "veteran",
        *,
        limits: Limits | None = None,
        history: bool = False,
        features: str = "all",
        seat: int = 0,
        mode: Autoreset = Autoreset.SAME_STEP,
        points_per_reward: float = 100.0,
        device: str = "cuda",
        threads: int = _THREADS,
        registers: int = _REGISTERS,
    ) -> None:
        _validated_device(device)  # before the scenarios are loaded
        host = Batch(
            num_envs, scenario, seat, opponent, limits, mode, points_per_reward, history=history,
            features=features,
        )  # fmt: skip
        self._set_up(host, device, threads, registers)

    @classmethod
    def of(cls, host: Batch, device: str) -> Self:
        """Return a batch with the arguments of a `Batch`, which becomes its `host`."""
        batch = cls.__new__(cls)
        batch._set_up(host, device, _THREADS, _REGISTERS)  # noqa: SLF001 - an instance of this class
        return batch

    def _set_up(self, host: Batch, device: str, threads: int, registers: int) -> None:
        self.device, self.host = _validated_device(device), host
        if int(Scripted.EXTERNAL) in host.game.pool:
            raise ValueError(
                "opponent: expected scripted players, as other policies do not run on a device"
            )
        self.num_envs = num_envs = host.num_envs
        self._words = self._empty((WORDS, num_envs), torch.int64)
        self._actions = self._empty((num_envs,), torch.int64)
        self.step_results = DeviceStep(
            self._empty((num_envs, host.layout.size), torch.float32),
            self._empty((num_envs, host.codec.n), torch.bool),
            self._empty((num_envs,), torch.float64),
            self._empty((num_envs,), torch.bool),
            self._empty((num_envs,), torch.bool),
            self._empty((len(host.new_step().final), host.layout.size), torch.float32),
        )
        self._zeroed = torch.from_numpy(host.layout.zeroed).to(self.device)
        self._buffers: list[torch.Tensor] = []  # their addresses are arguments of the kernel
        self.arguments = self._arguments()
        self._threads, self._registers = threads, registers
        if self.device.type == "cuda":
            _ = self._launch  # compile now, and raise errors here

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of a step, compiled on first use."""
        if self.device.type == "cpu":
            return emulated(self.arguments)
        return CudaKernel(
            ptx_of(self.arguments, processor_of(self.device)), tuple(variables(self.arguments)),
            self.device, threads=self._threads, registers=self._registers,
        )  # fmt: skip

    @cached_property
    def _launch(self) -> Callable[[], None]:
        return self.kernel.bind(variables(self.arguments), self.num_envs)

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("DeviceBatch: cannot be copied or pickled; use get_state and set_state")

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _copy_to_device(self, array: NDArray[Any]) -> Address:
        """Copy an array to the device."""
        data = np.frombuffer(array.tobytes(), np.uint8)
        tensor = torch.from_numpy(data.copy()).to(self.device)
        self._buffers.append(tensor)
        return Address(tensor.data_ptr(), array.shape, array.itemsize)

    def _arguments(self) -> list[Scalar]:
        """Return the flattened arguments of `wfb_gym.envs.device_thread.drive_thread`.

        Arrays that are small and do not depend on the number of environments are constants.
        """
        host, out = self.host, self.step_results
        game: Any = host.game
        view: Any = host.view.arrays
        tables = game.move_tables
        is_one = len(game.packed_scenarios) == 1
        has_tables = tables.storage.size > 1

        def place(array: Any, is_constant: bool) -> Any:
            plain = np.asarray(array)
            return Constant(plain) if is_constant else self._copy_to_device(plain)

        placed_game = game._replace(
            envs=Address(0, (0,), ENVIRONMENT.itemsize),
            packed_scenarios=place(game.packed_scenarios, is_one),
            starts=place(game.starts, False),
            pool=Constant(game.pool),
            move_tables=tables._replace(
                tables=place(tables.tables, not has_tables),
                storage=place(tables.storage, not has_tables),
            ),
        )
        placed_view = view._replace(
            codes=Constant(view.codes), indices=Constant(view.indices),
            offsets=Constant(np.asarray(view.offsets)), static=place(view.static, False),
        )  # fmt: skip
        results = BatchStep._make(
            Address.of(each)
            for each in (out.observations, out.action_mask, out.rewards, out.terminations,
                         out.illegal, out.final)
        )  # fmt: skip
        words = Address.of(self._words.view(-1))
        return list(flatten((Address.of(self._actions), words, placed_game, placed_view, results)))

    def reset(
        self, seeds: Sequence[int | None] = (), chosen: NDArray[np.bool_] | None = None
    ) -> DeviceStep:
        """Start new episodes.

        Args:
            seeds: one seed per environment; None keeps a generator. Empty keeps all of them.
            chosen: the environments to reset, bool (n,). Defaults to all.

        Returns:
            The current observations and masks. The other tensors are zero.
        """
        if self.host.is_reset:
            self.download()
        if chosen is None:
            chosen = np.ones(self.num_envs, np.bool_)
        self.host.reset(chosen, seeds)
        return self.upload()

    def step(self, actions: torch.Tensor) -> DeviceStep:
        """Play one learner action in every environment. Does not wait for the GPU.

        Args:
            actions: signed integers (n,), on the device. If one is outside the action space, its
                environment does not change, its reward is 0, and the next `check` raises an error.

        Raises:
            ValueError: if the shape or dtype is wrong.
        """
        if not isinstance(actions, torch.Tensor):
            raise ValueError(f"actions: expected a tensor, found {type(actions).__name__}")
        if actions.shape != self._actions.shape or actions.dtype not in _INTEGERS:
            raise ValueError(
                f"actions: expected signed integers of shape ({self.num_envs},), "
                f"found {actions.dtype} of shape {tuple(actions.shape)}"
            )
        if actions.device != self._actions.device:
            raise ValueError(
                f"actions: expected a tensor on {self._actions.device}, found {actions.device}"
            )
        self._actions.copy_(actions)
        self._launch()
        self._set_zeros()
        return self.step_results

    def check(self) -> None:
        """Wait for the current stream, and raise an error if a step failed since the last call.

        Raises:
            ValueError: if an action was outside the action space.
            KernelError: if the rules raised an error, which is a fault in this package.
        """
        failure = self.kernel.failure()
        if failure < 0:
            raise ValueError(
                f"action of environment {-failure - 1}: expected 0..{self.host.codec.n - 1}, "
                "found another in a step since the last check"
            )
        if failure > 0:
            raise KernelError(f"device: the step of environment {failure - 1} failed")

    def download(self) -> None:
        """Copy the environments and masks to `host`."""
        self.check()
        rows = np.ascontiguousarray(self._words.cpu().numpy().T)
        self.host.envs[:] = rows.view(self.host.envs.dtype)[:, 0]
        self.host.action_mask[:] = self.step_results.action_mask.cpu().numpy()

    def upload(self) -> DeviceStep:
        """Copy the environments of `host` to the device.

        Returns:
            Their observations and masks. The other tensors are zero.
        """
        raw = np.frombuffer(self.host.envs.tobytes(), np.int64).reshape(self.num_envs, WORDS)
        self._words.copy_(torch.from_numpy(raw.T.copy()))
        self.kernel.failure()  # of a step before
        for tensor in self.step_results[2:]:
            tensor.zero_()
        out = self.host.observe()
        self.step_results.observations.copy_(torch.from_numpy(out.observations))
        self.step_results.action_mask.copy_(torch.from_numpy(out.masks))
        return self.step_results

    def _set_zeros(self) -> None:
        """Set the numbers that are always 0; see `wfb_gym.encoding.layout.Layout.set_zeros`."""
        if len(self._zeroed):
            self.step_results.observations[:, self._zeroed] = 0.0
            self.step_results.final[:, self._zeroed] = 0.0

    def get_state(self) -> dict[str, Any]:
        """Return the complete state of all environments, the same as the CPU's `Batch`."""
        self.download()
        return self.host.get_state()

    def set_state(self, state: Mapping[str, Any]) -> DeviceStep:
        """Restore a state of this batch or of a `Batch` with the same arguments.

        Returns:
            Observations and masks for that state.

        Raises:
            ValueError: if the state is corrupt or comes from a batch with other arguments.
        """
        self.host.set_state(dict(state))
        return self.upload()


def _validated_device(name: str) -> torch.device:
    """Return a device that exists.

    Raises:
        ValueError: if the name is neither "cpu" nor the name of a CUDA device.
        KernelError: if there is no such GPU.
    """
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f'device: expected "cuda", "cuda:0" and so on or "cpu", found {name!r}')
    if device.type == "cpu":
        return device
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count <= (device.index or 0):
        raise KernelError(
            f"device: expected a GPU that PyTorch can use for {str(name)!r}, "
            f"found {count or 'none'}; without device=, environments run on the CPU"
        )
    return torch.empty(0, device=device).device  # with its index
