"""The neural network of learned players, and its file.

Two shapes. "flat" takes the observation as one row of numbers: small and fast, for one scenario.
"entities" takes it as armies of wizards, spells, items and units, each kind with one encoder for
all its members, and points an action at its member; so what it learns of one spell holds for every
other, and it plays scenarios that it never saw. Points are seen as parts of the greatest worth of a
spell, since a battle is the same game whatever a point is.

Illegal actions have probability 0 by construction: the network takes the mask. Names of parameters
are names in the files: a module or a parameter keeps its name.
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
from wfb_gym.encoding.layout import KINDS, POINTS, layout
from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits
from wfb_gym.files import check_unpacked, refuse_damage, write_whole
from wfb_gym.scenario.sizes import WIZARDS

ILLEGAL_LOGIT = -1e9
"""Logit of an illegal action; its probability is 0 in single precision."""
LEAST_WORTH = 0.01
"""Points / 100 below which a battle is about nothing."""
STEPS = {"own_pool": 10, "enemy_pool": 10, "number_to_match": 24}
"""Numbers that the network also sees one by one, and how many of each."""
_MAX_BYTES = 2**28
"""Of the weights of a saved network, unpacked; those of the package have 2 MB."""
_HEADS = ("pass", "dice", "re-rolls", "no target")
"""Ranges of actions that belong to no member of an army."""
_POINTED = {
    "items": ("to_items", "own", "item"),
    "wizards": ("to_wizards", "own", "wizard"),
    "spells": ("to_spells", "own", "spell"),
    "own in play": ("to_own_in_play", "own", "spell"),
    "enemy in play": ("to_enemy_in_play", "enemy", "spell"),
}
"""Ranges of actions that point at members of an army: the pointer's name, whose and which."""


def _linear(inputs: int, outputs: int, gain: float = math.sqrt(2.0)) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _trunk(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(_linear(inputs, width), nn.ReLU(), _linear(width, width), nn.ReLU())


def _indices(numbers: list[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.long)


class PolicyNetwork(nn.Module):
    """Log-probabilities of a seat's actions, and the points to come.

    Args:
        limits: of the observations and actions.
        shape: "flat" or "entities".
        width: of the hidden layers.

    Raises:
        ValueError: there is no such shape.
    """

    points: Tensor
    worths: Tensor
    stepped: Tensor
    scales: Tensor
    steps: Tensor

    def __init__(self, limits: Limits, shape: str = "flat", width: int = 128) -> None:
        super().__init__()
        self.limits, self.shape, self.width = limits, shape, width
        seen = layout(limits)
        at = seen.offsets[0]
        worths = [
            at[side].spells + number * at.in_spell.stride + at.in_spell.worth
            for side, army in zip(SIDES, (limits.own, limits.opponent), strict=True)
            for number in range(army.spells)
        ]
        stepped = [at[name] for name, count in STEPS.items() for _ in range(count)]
        for name, numbers in (
            ("points", torch.tensor([float(each.quantity == POINTS) for each in seen.fields])),
            ("scales", torch.tensor([seen.fields[index].quantity.scale for index in stepped])),
            ("steps", torch.tensor([float(k) for count in STEPS.values() for k in range(count)])),
            ("worths", _indices(worths)),
            ("stepped", _indices(stepped)),
        ):
            self.register_buffer(name, numbers, persistent=False)
        features = seen.size + len(stepped)
        self.body: nn.Module
        if shape == "flat":
            self.body = Flat(features, action_codec(limits).n, width)
        elif shape == "entities":
            self.body = Entities(limits, features, width)
        else:
            raise ValueError(f'network: expected the shape "flat" or "entities", found {shape!r}')

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of the actions, (k, actions), and values, (k,).

        Args:
            observations: float32 (k, size).
            masks: bool (k, actions), True for legal actions.

        Values are in parts of `greatest_worth`.
        """
        return self.evaluate(self.encode(observations), masks)

    def encode(self, observations: Tensor) -> Tensor:
        """Return observations as `evaluate` takes them, to encode once and evaluate often.

        Points are divided by the greatest worth; each die of the pools stands by itself, too.
        """
        inverse = 1.0 / self.greatest_worth(observations)[:, None] - 1.0
        scaled = observations * (1.0 + self.points * inverse)
        one_by_one = observations[:, self.stepped] * self.scales - self.steps
        return torch.cat([scaled, one_by_one.clamp(0.0, 1.0)], 1)

    def evaluate(self, features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `forward` does, from encoded observations."""
        logits, values = self.body(features)
        return torch.log_softmax(logits.masked_fill(~masks, ILLEGAL_LOGIT), 1), values

    def greatest_worth(self, observations: Tensor) -> Tensor:
        """Return the greatest worth of a spell, (k,), in points / 100: the unit of values."""
        if not len(self.worths):
            return torch.ones(len(observations))
        return observations[:, self.worths].abs().amax(1).clamp_min(LEAST_WORTH)


class Flat(nn.Module):
    """Two hidden layers, from which both the actions and the value come."""

    def __init__(self, inputs: int, actions: int, width: int) -> None:
        super().__init__()
        self.trunk = _trunk(inputs, width)
        self.actor = _linear(width, actions, 0.01)
        self.critic = _linear(width, 1, 1.0)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (k, actions), and values, (k,)."""
        hidden = self.trunk(features)
        return self.actor(hidden), self.critic(hidden)[:, 0]


class Pointer(nn.Module):
    """A logit for each member of a kind, given what is known of the whole battle."""

    def __init__(self, member: int, whole: int, width: int) -> None:
        super().__init__()
        self.member = _linear(member, width)
        self.whole = _linear(whole, width)
        self.out = _linear(width, 1, 0.01)

    def forward(self, members: Tensor, whole: Tensor) -> Tensor:
        """Return the logit of each member, (k, members)."""
        hidden = torch.relu(self.member(members) + self.whole(whole)[:, None])
        logits: Tensor = self.out(hidden)[..., 0]
        return logits


class Entities(nn.Module):
    """One encoder a kind of member, sums and maxima over them, and pointers back to them."""

    common: Tensor

    def __init__(self, limits: Limits, features: int, width: int) -> None:
        super().__init__()
        at = layout(limits).offsets[0]
        self.ranges = action_codec(limits).ranges
        self.spell_wizard, self.spell_pending = int(at.in_spell.wizard), int(at.in_spell.pending)
        sizes = {kind: int(at[f"in_{kind}"].stride) for kind in KINDS}
        self.blocks = {
            (side, kind): (int(at[side][f"{kind}s"]), getattr(army, f"{kind}s"), size)
            for side, army in zip(SIDES, (limits.own, limits.opponent), strict=True)
            for kind, size in sizes.items()
        }
        self.blocks["own", "choice"] = (
            int(at.choices), limits.own.spells, int(at.in_choice.stride)
        )  # fmt: skip
        self.n_points = limits.own.comet_points
        if self.n_points:
            self.blocks["own", "point"] = int(at.comet_at_point), self.n_points, 1
        in_blocks = [range(k, k + count * size) for k, count, size in self.blocks.values()]
        common = sorted(set(range(features)).difference(*in_blocks))
        self.register_buffer("common", _indices(common), persistent=False)
        half = width // 2
        self.width = width
        self.wizard = _linear(sizes["wizard"] + 1, half)
        self.item = _linear(sizes["item"] + 1, half)
        self.unit = _linear(sizes["unit"] + 1, half)
        spell = sizes["spell"] + int(at.in_choice.stride) + sizes["wizard"]
        self.spell = _linear(spell + 1, width)
        self.spell_whole = _linear(len(common), width)
        self.spell_out = _linear(width, width)
        inputs = len(common) + 2 * 3 * half + 2 * 2 * width + width
        whole = 3 * width
        self.trunk = _trunk(inputs, whole)
        self.flat = [key for key in _HEADS if self.ranges[key][1]]
        self.heads = _linear(whole, sum(self.ranges[key][1] for key in self.flat), 0.01)
        self.value = nn.Sequential(_linear(whole, width), nn.ReLU(), _linear(width, 1, 1.0))
        self.pointers = nn.ModuleDict()
        for name, _, kind in _POINTED.values():
            self.pointers[name] = Pointer(width if kind == "spell" else half, whole, width)
        self.at_units = Pointer(half, whole, width)
        self.at_wizards = Pointer(half, whole, width)
        if self.n_points:
            self.at_points = Pointer(1, whole, width)

    def _members(self, features: Tensor, side: str, kind: str) -> Tensor:
        """Return an army's members of a kind, (k, members, numbers)."""
        first, count, size = self.blocks[side, kind]
        return features[:, first : first + count * size].view(len(features), count, size)

    @staticmethod
    def _with_side(members: Tensor, side: str) -> Tensor:
        """Append to each member whose it is."""
        return nn.functional.pad(members, (0, 1), value=float(side == "enemy"))

    def _encode_spells(self, features: Tensor, side: str, whole: Tensor) -> Tensor:
        """Encode each spell with its wizard."""
        spells, wizards = (self._members(features, side, kind) for kind in ("spell", "wizard"))
        owners = (spells[..., self.spell_wizard] * WIZARDS).round().long() - 1
        there = (owners >= 0)[..., None]
        if wizards.shape[1]:
            places = owners.clamp_min(0)[..., None].expand(-1, -1, wizards.shape[2])
            casters = wizards.gather(1, places) * there
        else:
            casters = features.new_zeros(*spells.shape[:2], wizards.shape[2])
        if side == "own":
            choices = self._members(features, side, "choice")
        else:
            choices = features.new_zeros(*spells.shape[:2], self.blocks["own", "choice"][2])
        inputs = self._with_side(torch.cat([spells, choices, casters], 2), side)
        hidden = torch.relu(self.spell(inputs) + whole[:, None])
        return torch.relu(self.spell_out(hidden)) * there

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (k, actions), and values, (k,)."""
        common = features[:, self.common]
        whole = self.spell_whole(common)
        parts = [common]
        encoded_members: dict[tuple[str, str], Tensor] = {}
        pending = features.new_zeros(len(features), self.width)
        for side in SIDES:
            for kind in ("wizard", "item", "unit"):
                members = self._members(features, side, kind)
                encoded = torch.relu(getattr(self, kind)(self._with_side(members, side)))
                encoded_members[side, kind] = encoded
                there = (members != 0.0).any(2, keepdim=True)
                parts.append((encoded * there).sum(1))
            spells = self._members(features, side, "spell")
            if not spells.shape[1]:
                parts.append(features.new_zeros(len(features), 2 * self.width))
                continue
            encoded = self._encode_spells(features, side, whole)
            encoded_members[side, "spell"] = encoded
            parts += [encoded.sum(1), encoded.amax(1)]
            pending = pending + (encoded * spells[..., self.spell_pending, None]).sum(1)
        if self.n_points:
            encoded_members["own", "point"] = self._members(features, "own", "point")
        hidden = self.trunk(torch.cat([*parts, pending], 1))
        return self._logits(encoded_members, hidden), self.value(hidden)[:, 0]

    def _logits(self, members: dict[tuple[str, str], Tensor], hidden: Tensor) -> Tensor:
        """Return logits of all actions, in the order of the action space."""
        counts = [self.ranges[key][1] for key in self.flat]
        flat = dict(zip(self.flat, self.heads(hidden).split(counts, 1), strict=True))
        out = []
        for key, (_, count) in self.ranges.items():
            if not count:
                continue
            if key in flat:
                out.append(flat[key])
            elif key in _POINTED:
                name, side, kind = _POINTED[key]
                out.append(self.pointers[name](members[side, kind], hidden))
            elif key == "points":
                out.append(self.at_points(members["own", "point"], hidden))
            else:
                side = key.split()[0]
                out.append(self.at_units(members[side, "unit"], hidden))
                out.append(self.at_wizards(members[side, "wizard"], hidden))
        return torch.cat(out, 1)


def save_network(network: PolicyNetwork, path: Path, about: dict[str, Any]) -> None:
    """Write a network to a .npz file, with what is known about it; no code is in it.

    Args:
        network: whose weights are kept.
        path: of the file; replaced as a whole.
        about: what the file says about it, as JSON: seat, scenario, command, score.
    """
    sizes = {"shape": network.shape, "width": network.width, "limits": asdict(network.limits)}
    arrays: dict[str, Any] = {name: each.numpy() for name, each in network.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path) as draft:
        np.savez_compressed(draft, about=np.array(json.dumps(sizes | about)), **arrays)


def load_network(path: str | Path) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Return a network that `save_network` wrote, and what the file says about it.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: the file holds no network; a ValueError.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved network, found no file")
    with refuse_damage(path, "a saved network"):
        # NumPy leaves a damaged file open that it has opened itself.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            check_unpacked(held.zip, _MAX_BYTES)
            arrays = {name: held[name] for name in held.files}
        about = json.loads(str(arrays.pop("about")))
        limits = dict(about["limits"])
        for army in ("own", "opponent"):
            limits[army] = ArmyLimits(**limits[army])
        asked = Limits(**limits), about["shape"], about["width"]
        _check_weights(asked, arrays)
        network = PolicyNetwork(*asked)
        network.load_state_dict({name: torch.from_numpy(each) for name, each in arrays.items()})
    network.eval()
    return network, about


def _check_weights(asked: tuple[Limits, str, int], arrays: dict[str, Any]) -> None:
    """Raise a ValueError if the arrays are not the weights of the network that a file describes."""
    width = asked[2]
    if type(width) is not int or width < 1:
        raise ValueError(f"width: expected a whole number from 1, found {width!r}")
    with torch.device("meta"):  # takes no memory, whatever the width
        expected = {
            name: tuple(each.shape) for name, each in PolicyNetwork(*asked).state_dict().items()
        }
    if arrays.keys() != expected.keys():
        raise ValueError(f"expected the weights {sorted(expected)}, found {sorted(arrays)}")
    for name, array in arrays.items():
        if array.dtype != np.float32 or array.shape != expected[name]:
            raise ValueError(
                f"{name}: expected float32 of shape {expected[name]}, found {array.dtype} of "
                f"shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers, found infinite ones or none")
