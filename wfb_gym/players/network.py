"""The neural network of learned players: what it is made of, and its file.

Two shapes. "flat" reads the observation as one row of numbers: small and fast, for one scenario.
"entities" reads it as what it is, armies of wizards, spells, items and units, each kind with one
encoder for all its members, and points an action at its member; so what it learned of one spell
holds for every other, and it plays scenarios that it never saw. Points are seen as parts of the
greatest worth of a spell, since a battle is the same game whatever a point is.

Illegal actions have no chance by construction: the network takes the mask.
"""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import DICE_SCALE, NUMBER_SCALE, Layout, layout
from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.scenario.sizes import WIZARDS

SIDES = ("own", "enemy")
FORBIDDEN = -1e9
"""Preference of an illegal action; its chance is 0 in single precision."""
LEAST_WORTH = 0.01
"""Points / 100 below which a battle is about nothing."""
_STEPS = (("own pool", DICE_SCALE, 10), ("enemy pool", DICE_SCALE, 10))
_NUMBER = (("number to match", NUMBER_SCALE, 24),)
_POINTS = ("worth", "best", "promise", "miscast cost", "worth per phase")
_HEADS = ("pass", "dice", "re-rolls", "no target")
"""Actions that belong to nobody's member."""


def _linear(inputs: int, outputs: int, gain: float = math.sqrt(2.0)) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _indices(numbers: list[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.long)


class PolicyNetwork(nn.Module):
    """Preferences of a seat's actions, and the points to come.

    Args:
        limits: of the observations and actions.
        shape: "flat" or "entities".
        width: of the hidden layers.

    Raises:
        ValueError: there is no such shape.
    """

    def __init__(self, limits: Limits, shape: str = "flat", width: int = 128) -> None:
        super().__init__()
        self.limits, self.shape, self.width = limits, shape, width
        seen = layout(limits)
        self.reading = Reading(seen, limits)
        self.body: nn.Module
        if shape == "flat":
            self.body = Flat(self.reading.size, action_codec(limits).n, width)
        elif shape == "entities":
            self.body = Entities(seen, limits, self.reading, width)
        else:
            raise ValueError(f'network: expected the shape "flat" or "entities", found {shape!r}')

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Logarithms of the actions' chances, (k, actions), and values, (k,).

        Values are in parts of `worth`.
        """
        return self.evaluate(self.encode(observations), masks)

    def encode(self, observations: Tensor) -> Tensor:
        """Observations as `judge` takes them: whoever learns of them often reads them once."""
        return self.reading.scaled(observations)

    def evaluate(self, read: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """What `forward` gives, of observations that are read."""
        preferences, values = self.body(read)
        return torch.log_softmax(preferences.masked_fill(~masks, FORBIDDEN), 1), values

    def greatest_worth(self, observations: Tensor) -> Tensor:
        """The greatest worth of a spell, in points / 100: what values are parts of."""
        return self.reading.worth(observations)


class Reading(nn.Module):
    """Numbers as the network takes them: points by the greatest worth, dice one by one."""

    points: Tensor
    worths: Tensor
    stepped: Tensor
    scales: Tensor
    steps: Tensor

    def __init__(self, seen: Layout, limits: Limits) -> None:
        super().__init__()
        names = [field.name for field in seen.fields]
        points = [float(name.endswith(_POINTS)) for name in names]
        for side in SIDES:
            army = limits.own if side == "own" else limits.opponent
            for unit in range(army.units):
                points[names.index(f"{side} unit {unit + 1} points")] = 1.0
        worths = [i for i, name in enumerate(names) if name.endswith(" worth")]
        stepped, scales, steps = [], [], []
        for name, scale, most in (*_STEPS, *_NUMBER):
            for step in range(most):
                stepped.append(names.index(name))
                scales.append(scale)
                steps.append(float(step))
        self.size = seen.size + len(steps)
        for name, values in (("points", points), ("scales", scales), ("steps", steps)):
            self.register_buffer(name, torch.tensor(values), persistent=False)
        self.register_buffer("worths", _indices(worths), persistent=False)
        self.register_buffer("stepped", _indices(stepped), persistent=False)

    def worth(self, observations: Tensor) -> Tensor:
        """Return the worth of each option."""
        if not len(self.worths):
            return torch.ones(len(observations))
        return observations[:, self.worths].abs().amax(1).clamp_min(LEAST_WORTH)

    def scaled(self, observations: Tensor) -> Tensor:
        """The observation with points by worth, then each die of the pools by itself."""
        inverse = 1.0 / self.worth(observations)[:, None] - 1.0
        scaled = observations * (1.0 + self.points * inverse)
        one_by_one = observations[:, self.stepped] * self.scales - self.steps
        return torch.cat([scaled, one_by_one.clamp(0.0, 1.0)], 1)


class Flat(nn.Module):
    """Two hidden layers, from which both the actions and the value are read."""

    def __init__(self, inputs: int, actions: int, width: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            _linear(inputs, width), nn.ReLU(), _linear(width, width), nn.ReLU()
        )
        self.actor = _linear(width, actions, 0.01)
        self.critic = _linear(width, 1, 1.0)

    def forward(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs of the module."""
        hidden = self.trunk(read)
        return self.actor(hidden), self.critic(hidden)[:, 0]


class Pointer(nn.Module):
    """Preference for each member of a kind, given what is known of the whole battle."""

    def __init__(self, member: int, whole: int, width: int) -> None:
        super().__init__()
        self.member = _linear(member, width)
        self.whole = _linear(whole, width)
        self.out = _linear(width, 1, 0.01)

    def forward(self, members: Tensor, whole: Tensor) -> Tensor:
        """Return the outputs of the module."""
        hidden = torch.relu(self.member(members) + self.whole(whole)[:, None])
        preferences: Tensor = self.out(hidden)[..., 0]
        return preferences


def _name(key: str) -> str:
    """Of the pointer to a range of actions; modules bear no names of Python's own methods."""
    return "to_" + key.replace(" ", "_")


class Entities(nn.Module):
    """One encoder a kind of member, sums and maxima over them, and pointers back to them."""

    common: Tensor

    def __init__(self, seen: Layout, limits: Limits, reading: Reading, width: int) -> None:
        super().__init__()
        at = seen.offsets[0]
        self.ranges = action_codec(limits).ranges
        self.blocks: dict[tuple[str, str], tuple[int, int, int]] = {}
        taken: set[int] = set()
        for side, army in zip(SIDES, (limits.own, limits.opponent), strict=True):
            for kind in ("wizard", "spell", "item", "unit"):
                count, size = getattr(army, f"{kind}s"), int(at[f"{kind}_size"])
                first = int(at[f"{side}_{kind}s"])
                self.blocks[side, kind] = (first, count, size)
                taken.update(range(first, first + count * size) if count else ())
        common = [i for i in range(reading.size) if i not in taken]
        self.register_buffer("common", _indices(common), persistent=False)
        sizes = {kind: int(at[f"{kind}_size"]) for kind in ("wizard", "spell", "item", "unit")}
        half = width // 2
        self.narrow, self.wide = half, width
        self.wizard = _linear(sizes["wizard"] + 1, half)
        self.item = _linear(sizes["item"] + 1, half)
        self.unit = _linear(sizes["unit"] + 1, half)
        self.spell = _linear(sizes["spell"] + sizes["wizard"] + 1, width)
        self.spell_whole = _linear(len(common), width)
        self.spell_out = _linear(width, width)
        inputs = len(common) + 2 * 3 * half + 2 * 2 * width + width
        whole = 3 * width
        self.trunk = nn.Sequential(
            _linear(inputs, whole), nn.ReLU(), _linear(whole, whole), nn.ReLU()
        )
        self.flat = [key for key in _HEADS if self.ranges[key][1]]
        self.heads = _linear(whole, sum(self.ranges[key][1] for key in self.flat), 0.01)
        self.value = nn.Sequential(_linear(whole, width), nn.ReLU(), _linear(width, 1, 1.0))
        pointers = {
            "items": half,
            "wizards": half,
            "spells": width,
            "own in play": width,
            "enemy in play": width,
        }
        self.pointers = nn.ModuleDict(
            {_name(key): Pointer(size, whole, width) for key, size in pointers.items()}
        )
        self.at_units = Pointer(half, whole, width)
        self.at_wizards = Pointer(half, whole, width)

    def _members(self, read: Tensor, side: str, kind: str) -> Tensor:
        first, count, size = self.blocks[side, kind]
        return read[:, first : first + count * size].view(len(read), count, size)

    @staticmethod
    def _flagged(members: Tensor, side: str) -> Tensor:
        flag = torch.full((*members.shape[:2], 1), float(side == "enemy"))
        return torch.cat([members, flag], 2)

    def _spells(self, read: Tensor, side: str, whole: Tensor) -> Tensor:
        """Each spell with its wizard."""
        spells, wizards = (self._members(read, side, kind) for kind in ("spell", "wizard"))
        whose = (spells[..., 0] * WIZARDS).round().long() - 1
        there = (whose >= 0)[..., None]
        if wizards.shape[1]:
            places = whose.clamp_min(0)[..., None].expand(-1, -1, wizards.shape[2])
            casters = wizards.gather(1, places) * there
        else:
            casters = read.new_zeros(*spells.shape[:2], wizards.shape[2])
        hidden = self.spell(self._flagged(torch.cat([spells, casters], 2), side)) + whole[:, None]
        encoded: Tensor = torch.relu(self.spell_out(torch.relu(hidden))) * there
        return encoded

    def forward(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs of the module."""
        common = read[:, self.common]
        whole = self.spell_whole(common)
        parts = [common]
        known: dict[tuple[str, str], Tensor] = {}
        pending = read.new_zeros(len(read), self.wide)
        for side in SIDES:
            for kind, encoder in (
                ("wizard", self.wizard),
                ("item", self.item),
                ("unit", self.unit),
            ):
                members = self._members(read, side, kind)
                if not members.shape[1]:
                    parts.append(read.new_zeros(len(read), self.narrow))
                    continue
                encoded = torch.relu(encoder(self._flagged(members, side)))
                known[side, kind] = encoded
                there = (members != 0.0).any(2, keepdim=True)
                parts.append((encoded * there).sum(1))
            spells = self._members(read, side, "spell")
            if not spells.shape[1]:
                parts.append(read.new_zeros(len(read), 2 * self.wide))
                continue
            encoded = self._spells(read, side, whole)
            known[side, "spell"] = encoded
            parts += [encoded.sum(1), encoded.amax(1)]
            pending = pending + (encoded * spells[..., 6:7]).sum(1)
        hidden = self.trunk(torch.cat([*parts, pending], 1))
        return self._preferences(known, hidden), self.value(hidden)[:, 0]

    def _preferences(self, known: dict[tuple[str, str], Tensor], hidden: Tensor) -> Tensor:
        """Of all actions, in the order of the action space."""
        flat = dict(
            zip(
                self.flat,
                self.heads(hidden).split([self.ranges[key][1] for key in self.flat], 1),
                strict=True,
            )
        )
        members = {
            "items": ("own", "item"),
            "wizards": ("own", "wizard"),
            "spells": ("own", "spell"),
            "own in play": ("own", "spell"),
            "enemy in play": ("enemy", "spell"),
        }
        out = []
        for key, (_, count) in self.ranges.items():
            if not count:
                continue
            if key in flat:
                out.append(flat[key])
            elif key in members:
                out.append(self.pointers[_name(key)](known[members[key]], hidden))
            else:
                side = key.split()[0]
                for kind, pointer in (("unit", self.at_units), ("wizard", self.at_wizards)):
                    if (side, kind) in known:
                        out.append(pointer(known[side, kind], hidden))
        return torch.cat(out, 1)


def save_network(network: PolicyNetwork, path: Path, about: dict[str, Any]) -> None:
    """Write a network to a .npz file, with what is known about it; no code is in it.

    Args:
        network: whose weights are kept.
        path: of the file; replaced as a whole.
        about: what may be told of it as JSON: seat, scenario, command, score.
    """
    told = {
        "shape": network.shape,
        "width": network.width,
        "limits": asdict(network.limits),
        **about,
    }
    arrays: dict[str, Any] = {
        name: tensor.detach().numpy() for name, tensor in network.state_dict().items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.part.npz")
    np.savez_compressed(part, about=np.array(json.dumps(told)), **arrays)
    part.replace(path)


def load_network(path: str | Path) -> tuple[PolicyNetwork, dict[str, Any]]:
    """A network that `save_network` wrote, and what was told about it.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved network, found no file")
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        about = json.loads(str(arrays.pop("about")))
        limits = dict(about["limits"])
        for army in ("own", "opponent"):
            limits[army] = ArmyLimits(**limits[army])
        network = PolicyNetwork(Limits(**limits), about["shape"], about["width"])
        network.load_state_dict({name: torch.from_numpy(each) for name, each in arrays.items()})
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{path}: expected a network saved by wfb_gym.players.network.save_network: {error}"
        ) from error
    network.eval()
    return network, about
