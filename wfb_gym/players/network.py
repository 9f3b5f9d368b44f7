"""Neural network for learned players, and its file format.

There are two architectures ("shapes"):

- "flat" is a multilayer perceptron over the observation. It is small and fast, for one scenario.
- "entities" has one encoder for each kind of entity (wizards, spells, items, units) and a pointer
  network for actions on entities. All spells share weights, so it generalises to scenarios outside
  its training set.

Points are normalised by the value of the most valuable spell, because scaling all points does not
change the game. "flat" takes the maximum over all spells. "entities" takes it over the spells that
are castable, being cast or in play.

The network takes the action mask as input, so illegal actions have probability 0. Files store
parameters by name, so do not rename modules or parameters.
"""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.fields import BONUS, DICE, NUMBER, POINTS, SpellOffsets
from wfb_gym.encoding.layout import KINDS, layout
from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.odds import CAST_CHANCE, DISPEL_CHANCE, through_table
from wfb_gym.files import Archive, atomic_write, open_archive, wrap_read_errors
from wfb_gym.scenario.sizes import WIZARDS

ILLEGAL_LOGIT = -1e9  # logit for illegal actions, whose probability is then 0 in single precision
MIN_SPELL_VALUE = 0.01
"""Lower limit for the unit of points, in points / 100, to avoid division by 0."""
STEPS = {"own_pool": 10, "enemy_pool": 10, "number_to_match": 24}
"""Numbers that the network also receives in unary code, and the number of digits for each."""
_MAX_BYTES = 2**26
"""Maximum unpacked size of the weights in a file; the package's networks have at most 10 MB."""
_STORED = ("float32", "float16")  # data types for stored weights; computation uses float32
_HEADS = ("pass", "re-rolls", "no target")  # ranges of actions that do not refer to an entity
_POINTED = {
    "items": ("to_items", "own", "item"),
    "wizards": ("to_wizards", "own", "wizard"),
    "spells": ("to_spells", "own", "spell"),
    "own in play": ("to_own_in_play", "own", "spell"),
    "enemy in play": ("to_enemy_in_play", "enemy", "spell"),
}
"""Ranges of actions on entities: the pointer's name, the side and the kind."""
_AT_HAND = ("castable", "pending", "in_play")
"""Flags for a spell that is castable, being cast or in play."""
_CAST_DICE = 8  # maximum number of dice in a spell's casting chances
_MOST_DICE = 12  # maximum number of dice in the chances of casting a spell against dispel dice
_ONE_HOT_DICE = 8  # number of classes in the one-hot encoding of a number of dice
_DICE_FACTS = 10  # number of other features for a number of dice
_BLOCKS = 2  # number of blocks in which entities exchange information


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
    """Actor-critic network: log-probabilities of a seat's actions, and expected future points.

    Args:
        limits: sizes of observations and actions.
        shape: "flat" or "entities".
        width: width of the hidden layers.

    Raises:
        ValueError: if the shape is unknown.
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
            self.body = Entities(limits, features + 1, width)
        else:
            raise ValueError(f'network: expected the shape "flat" or "entities", found {shape!r}')

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of the actions, (k, actions), and values, (k,).

        Args:
            observations: float32 (k, size).
            masks: bool (k, actions), True for legal actions.

        The unit of values is `greatest_spell_value`.
        """
        return self.evaluate(self.encode(observations), masks)

    def encode(self, observations: Tensor) -> Tensor:
        """Return the input for `evaluate`, (k, features), to encode once and evaluate often.

        Points are divided by `value_unit`, and the numbers in `STEPS` are added in unary code. For
        "entities" the last feature is `value_unit` / `greatest_spell_value`.
        """
        worth = self.value_unit(observations)[:, None]
        scaled = observations * (1.0 + self.points * (1.0 / worth - 1.0))
        one_by_one = observations[:, self.stepped] * self.scales - self.steps
        features = [scaled, one_by_one.clamp(0.0, 1.0)]
        if self.shape == "entities":
            features.append(worth / self.greatest_spell_value(observations)[:, None])
        return torch.cat(features, 1)

    def evaluate(self, features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and values like `forward`, from encoded observations."""
        logits, values = self.body(features)
        return torch.log_softmax(logits.masked_fill(~masks, ILLEGAL_LOGIT), 1), values

    def greatest_spell_value(self, observations: Tensor) -> Tensor:
        """Return the unit of values, (k,), in points / 100: the most valuable spell's value."""
        if not len(self.worths):
            return observations.new_ones(len(observations))
        return observations[:, self.worths].abs().amax(1).clamp_min(MIN_SPELL_VALUE)

    def value_unit(self, observations: Tensor) -> Tensor:
        """Return the unit of points in the features, (k,), in points / 100.

        For "flat" it is `greatest_spell_value`. For "entities" it is the maximum over the spells
        that are castable, being cast or in play, including their points per phase, or
        `greatest_spell_value` if there are none.
        """
        greatest = self.greatest_spell_value(observations)
        if not isinstance(self.body, Entities) or not len(self.worths):
            return greatest
        now = self.body.value_unit(observations)
        return torch.where(now > MIN_SPELL_VALUE, now, greatest)


class Flat(nn.Module):
    """Two hidden layers shared by the actor and the critic."""

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
    """Pointer head: a logit for each entity, from its embedding and the battle's."""

    def __init__(self, member: int, whole: int, width: int) -> None:
        super().__init__()
        self.member = _linear(member, width)
        self.whole = _linear(whole, width)
        self.both = _linear(width, width)
        self.out = _linear(width, 1, 0.01)

    def forward(self, members: Tensor, whole: Tensor) -> Tensor:
        """Return the logit of each entity, (k, members)."""
        hidden = torch.relu(self.member(members) + self.whole(whole)[:, None])
        logits: Tensor = self.out(torch.relu(self.both(hidden)))[..., 0]
        return logits


class Chances(nn.Module):
    """Tables of exact casting and dispelling chances, indexed by dice and spells.

    Items and wizards' own dice are ignored, except for their bonus to casting rolls.
    """

    cast: Tensor
    dispel: Tensor
    through: Tensor
    most_through: Tensor

    def __init__(self) -> None:
        super().__init__()
        through = through_table(_MOST_DICE)
        for name, table in (
            ("cast", CAST_CHANCE),
            ("dispel", DISPEL_CHANCE),
            ("through", through),
            ("most_through", np.maximum.accumulate(through, axis=2)),
        ):
            self.register_buffer(name, torch.from_numpy(table).float(), persistent=False)

    def get_through(self, rules: Tensor, need: Tensor, power: Tensor, against: Tensor) -> Tensor:
        """Return the probability that a spell is cast and not dispelled.

        All arguments are int64 and broadcast against each other.

        Args:
            rules: 1 if two 6s dispel any spell.
            need: row in the cast table.
            power: number of casting dice.
            against: number of dispel dice.
        """
        return self.through[rules, need, _up_to(power), _up_to(against)]

    def best_through(self, rules: Tensor, need: Tensor, power: Tensor, against: Tensor) -> Tensor:
        """Return `get_through` with the best number of dice up to `power`."""
        return self.most_through[rules, need, _up_to(power), _up_to(against)]


def _up_to(dice: Tensor) -> Tensor:
    return dice.clamp(0, _MOST_DICE)


class Casts(NamedTuple):
    """An army's castable and pending spells."""

    need: Tensor  # int64 (k, spells): row in the cast table
    worth: Tensor  # (k, spells): points in the features' unit; 0 for other spells
    pending: Tensor  # (k, spells): 1 if the spell is pending
    most_dice: Tensor  # int64 (k, spells): maximum number of dice that it may be cast with now


class Pools(NamedTuple):
    """Dice and rules at a decision, int64 (k,)."""

    own: Tensor
    enemy: Tensor
    rules: Tensor  # 1 if two 6s dispel any spell
    number: Tensor  # number to match


class Entities(nn.Module):
    """One encoder per kind of entity, blocks that exchange sums of embeddings, and pointer heads.

    A spell's features include the chances of casting it unopposed and against all enemy dice. The
    features of a number of dice include its chances for the pending spell, and the highest expected
    points of another spell with the remaining dice.
    """

    common: Tensor
    dice: Tensor

    def __init__(self, limits: Limits, features: int, width: int) -> None:
        super().__init__()
        at = layout(limits).offsets[0]
        self.codec = action_codec(limits)
        self.ranges = self.codec.ranges
        names = ("own_pool", "enemy_pool", "number_to_match", "own_phase", "rule_double_six")
        self.at = {name: int(at[name]) for name in names}
        self.in_spell = {name: int(at.in_spell[name]) for name in SpellOffsets.__annotations__}
        self.cast_bonus = int(at.in_wizard.cast_bonus)
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
        first, count = self.ranges["dice"]
        dice = self.codec.code_of[first : first + count] - FIRST_DICE
        self.register_buffer("common", _indices(common), persistent=False)
        self.register_buffer("dice", torch.from_numpy(dice), persistent=False)
        self.chances = Chances()
        sizes["spell"] += int(at.in_choice.stride) + sizes["wizard"] + 3 * _CAST_DICE
        self.first_look = _linear(len(common), 2 * width)
        self.encoders = nn.ModuleDict({k: _linear(n + 1, width) for k, n in sizes.items()})
        pooled = 2 * (len(KINDS) + 1) * width + width
        self.looks = nn.ModuleList(AttentionBlock(pooled, width) for _ in range(_BLOCKS))
        whole = 3 * width
        self.trunk = _trunk(2 * width + len(common), whole)
        self.flat = [key for key in _HEADS if self.ranges[key][1]]
        self.heads = _linear(whole, sum(self.ranges[key][1] for key in self.flat), 0.01)
        self.value = nn.Sequential(_linear(whole, width), nn.ReLU(), _linear(width, 1, 1.0))
        self.to_dice = Pointer(_DICE_FACTS + 2 * _ONE_HOT_DICE, whole, width)
        self.pointers = nn.ModuleDict()
        for name, _, _ in _POINTED.values():
            self.pointers[name] = Pointer(width, whole, width)
        self.at_units = Pointer(width, whole, width)
        self.at_wizards = Pointer(width, whole, width)
        if self.n_points:
            self.at_points = Pointer(1, whole, width)

    def _members(self, features: Tensor, side: str, kind: str) -> Tensor:
        """Return an army's entities of one kind, (k, members, numbers)."""
        first, count, size = self.blocks[side, kind]
        return features[:, first : first + count * size].view(len(features), count, size)

    def _numbers(self, spells: Tensor, name: str) -> Tensor:
        """Return one of each spell's numbers; 0 if the limits exclude it."""
        index = self.in_spell[name]
        return spells[..., index] if index >= 0 else torch.zeros_like(spells[..., 0])

    def value_unit(self, observations: Tensor) -> Tensor:
        """Return the value of the most valuable castable, pending or in-play spell, (k,)."""
        worths = []
        for side in SIDES:
            spells = self._members(observations, side, "spell")
            present = torch.stack([self._numbers(spells, name) for name in _AT_HAND]).amax(0) > 0.0
            worth = self._numbers(spells, "worth").abs()
            worths.append((worth + self._numbers(spells, "worth_per_phase").abs()) * present)
        return torch.cat(worths, 1).amax(1)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (k, actions), and values, (k,)."""
        common = features[:, self.common]
        whole = torch.relu(self.first_look(common))
        members: dict[tuple[str, str], Tensor] = {}
        present: dict[tuple[str, str], Tensor] = {}
        pools = self._pools(features)
        casts = {}
        for side in SIDES:
            for kind in ("wizard", "item", "unit"):
                seen = self._members(features, side, kind)
                present[side, kind] = (seen != 0.0).any(2, keepdim=True).float()
                members[side, kind] = self._encode(seen, side, kind)
            spells = self._members(features, side, "spell")
            casters = self._casters(features, side)
            casts[side] = self._casts(spells, casters)
            if side == "own":
                choices = self._members(features, side, "choice")
            else:
                choices = features.new_zeros(*spells.shape[:2], self.blocks["own", "choice"][2])
            present[side, "spell"] = (self._numbers(spells, "wizard") > 0.0)[..., None].float()
            chances = self._chance_features(casts[side], pools, side)
            seen = torch.cat([spells, choices, casters, chances], 2)
            members[side, "spell"] = self._encode(seen, side, "spell")
        pending = {side: casts[side].pending[..., None] for side in SIDES}
        for block in self.looks:
            members, whole = block(members, present, pending, whole)
        hidden = self.trunk(torch.cat([whole, common], 1))
        if self.n_points:
            members["own", "point"] = self._members(features, "own", "point")
        values = self.value(hidden)[:, 0] * features[:, -1]
        return self._logits(members, self._dice_features(features, casts, pools), hidden), values

    def _encode(self, members: Tensor, side: str, kind: str) -> Tensor:
        """Encode the entities of one kind, with a flag for the side."""
        marked = nn.functional.pad(members, (0, 1), value=float(side == "enemy"))
        return torch.relu(self.encoders[kind](marked))

    def _casters(self, features: Tensor, side: str) -> Tensor:
        """Return each spell's wizard; zeros for a spell without a wizard."""
        spells, wizards = (self._members(features, side, kind) for kind in ("spell", "wizard"))
        if not wizards.shape[1]:
            return features.new_zeros(*spells.shape[:2], wizards.shape[2])
        owners = (self._numbers(spells, "wizard") * WIZARDS).round().long() - 1
        places = owners.clamp_min(0)[..., None].expand(-1, -1, wizards.shape[2])
        return wizards.gather(1, places) * (owners >= 0)[..., None]

    def _pools(self, features: Tensor) -> Pools:
        """Return the dice and rules at the decisions."""
        scales = {"own_pool": DICE, "enemy_pool": DICE, "number_to_match": NUMBER}
        own, enemy, number = (
            (features[:, self.at[name]] * quantity.scale).round().long()
            for name, quantity in scales.items()
        )
        rules = features[:, self.at["rule_double_six"]].long()
        return Pools(own, enemy, rules, number.clamp(0, self.chances.dispel.shape[1] - 1))

    def _casts(self, spells: Tensor, casters: Tensor) -> Casts:
        """Return an army's castable and pending spells."""
        need = self._numbers(spells, "casting_value") * NUMBER.scale
        if self.cast_bonus >= 0:
            need = need - casters[..., self.cast_bonus] * BONUS.scale
        pending = (self._numbers(spells, "pending") > 0.0).float()
        at_hand = ((self._numbers(spells, "castable") > 0.0) | (pending > 0.0)).float()
        worth = self._numbers(spells, "worth") + self._numbers(spells, "worth_per_phase")
        most = (self._numbers(spells, "most_dice") * DICE.scale).round().long()
        rows = need.round().long().clamp(0, len(self.chances.cast) - 1)
        return Casts(rows, worth * at_hand, pending, torch.where(most > 0, most, _MOST_DICE))

    def _chance_features(self, casts: Casts, pools: Pools, side: str) -> Tensor:
        """Return spells' chances and expected points by number of dice, (k, spells, facts)."""
        against = pools.enemy if side == "own" else pools.own
        dice = torch.arange(1, _CAST_DICE + 1, device=against.device)
        through = self.chances.get_through(
            pools.rules[:, None, None], casts.need[..., None], dice, against[:, None, None]
        )
        cast = self.chances.cast[casts.need][..., 1 : _CAST_DICE + 1]
        return torch.cat([cast, through, through * casts.worth[..., None]], 2)

    def _dice_features(self, features: Tensor, casts: dict[str, Casts], pools: Pools) -> Tensor:
        """Return the features for each number of dice, (k, numbers, facts)."""
        left = pools.own[:, None] - self.dice
        many = left.shape
        need, worth = (
            torch.cat([getattr(casts[side], name) * casts[side].pending for side in SIDES], 1)
            for name in ("need", "worth")
        )
        at_stake = worth.sum(1, keepdim=True)
        need = need.sum(1, keepdim=True).long().clamp(max=len(self.chances.cast) - 1)
        rules = pools.rules[:, None]
        cast = self.chances.cast[need, self.dice]
        through = self.chances.get_through(rules, need, self.dice, pools.enemy[:, None])
        dispel = self.chances.dispel[rules, pools.number[:, None], self.dice]
        own_phase = features[:, self.at["own_phase"], None] > 0.5
        own, own_undispelled = (
            self._best_other(casts["own"], pools.rules, left, against[:, None])
            for against in (pools.enemy, torch.zeros_like(pools.enemy))
        )
        enemy = self._best_other(casts["enemy"], pools.rules, pools.enemy[:, None], left)
        facts = [
            cast,
            dispel,
            through,
            cast * at_stake,
            dispel * at_stake,
            through * at_stake,
            torch.where(own_phase, own, enemy),
            torch.where(own_phase, own_undispelled, enemy),
            left / DICE.scale,
            (self.dice / DICE.scale).expand(many),
        ]
        apart = nn.functional.one_hot(self.dice.clamp(max=_ONE_HOT_DICE - 1), _ONE_HOT_DICE)
        left_apart = nn.functional.one_hot(left.clamp(0, _ONE_HOT_DICE - 1), _ONE_HOT_DICE)
        return torch.cat(
            [torch.stack(facts, 2), apart.float().expand(*many, -1), left_apart.float()], 2
        )

    def _best_other(self, casts: Casts, rules: Tensor, power: Tensor, against: Tensor) -> Tensor:
        """Return the highest expected points of a non-pending spell, (k, numbers of dice)."""
        worth = casts.worth * (1.0 - casts.pending)
        if not worth.shape[1]:
            return torch.zeros_like(power + against, dtype=worth.dtype)
        chances = self.chances.best_through(
            rules[:, None, None],
            casts.need[..., None],
            torch.minimum(power[:, None], casts.most_dice[..., None]),
            against[:, None],
        )
        best: Tensor = (chances * worth[..., None]).amax(1)
        return best

    def _logits(
        self, members: dict[tuple[str, str], Tensor], dice: Tensor, hidden: Tensor
    ) -> Tensor:
        """Return the logits of all actions, in the order of the action space."""
        counts = [self.ranges[key][1] for key in self.flat]
        flat = dict(zip(self.flat, self.heads(hidden).split(counts, 1), strict=True))
        out = []
        for key, (_, count) in self.ranges.items():
            if not count:
                continue
            if key in flat:
                out.append(flat[key])
            elif key == "dice":
                out.append(self.to_dice(dice, hidden))
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


class AttentionBlock(nn.Module):
    """Updates entity embeddings from the battle embedding, and the battle embedding from theirs."""

    def __init__(self, pooled: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.members = nn.ModuleDict({kind: _linear(width, width) for kind in KINDS})
        self.whole = nn.ModuleDict({kind: _linear(2 * width, width) for kind in KINDS})
        self.both = _trunk(2 * width + pooled, 2 * width)

    def forward(
        self,
        members: dict[tuple[str, str], Tensor],
        present: dict[tuple[str, str], Tensor],
        pending: dict[str, Tensor],
        whole: Tensor,
    ) -> tuple[dict[tuple[str, str], Tensor], Tensor]:
        """Return the updated embeddings of the entities and the battle.

        Args:
            members: embeddings of entities by side and kind, (k, members, width).
            present: 1 for entities that exist, by side and kind, (k, members, 1).
            pending: 1 for pending spells, by side, (k, spells, 1).
            whole: embedding of the battle, (k, 2 width).
        """
        seen: dict[tuple[str, str], Tensor] = {}
        parts = [whole]
        at_stake = whole.new_zeros(len(whole), self.width)
        for (side, kind), each in members.items():
            moved = self.members[kind](each) + self.whole[kind](whole)[:, None]
            after = torch.relu(each + moved) * present[side, kind]
            seen[side, kind] = after
            parts.append(after.sum(1))
            if kind == "spell":
                most = after.amax(1) if after.shape[1] else whole.new_zeros(len(whole), self.width)
                parts.append(most)
                at_stake = at_stake + (after * pending[side]).sum(1)
        return seen, torch.relu(whole + self.both(torch.cat([*parts, at_stake], 1)))


def save_network(
    network: PolicyNetwork, path: str | Path, about: dict[str, Any], numbers: str = "float32"
) -> None:
    """Save a network and its metadata to a .npz file. The file contains no code.

    Args:
        network: the network.
        path: path of the file, replaced atomically.
        about: metadata, written as JSON: seat, scenario, command, score.
        numbers: "float32", or "float16" for a file half the size.
    """
    sizes = {"shape": network.shape, "width": network.width, "limits": asdict(network.limits)}
    weights = network.state_dict().items()
    arrays: dict[str, Any] = {name: each.cpu().numpy().astype(numbers) for name, each in weights}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        np.savez_compressed(draft, about=np.array(json.dumps(sizes | about)), **arrays)


def load_network(path: str | Path) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Load a network saved by `save_network`, and its metadata.

    Raises:
        FileNotFoundError: if the file does not exist.
        DamagedFileError: if the file does not contain a network; a subclass of ValueError.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved network, found no file")
    with wrap_read_errors(path, "a saved network"), open_archive(path, _MAX_BYTES) as archive:
        about = json.loads(archive.read_string("about"))
        limits = dict(about["limits"])
        for army in ("own", "opponent"):
            limits[army] = ArmyLimits(**limits[army])
        network = _read_network(archive, Limits(**limits), about["shape"], about["width"])
    network.eval()
    return network, about


def _read_network(archive: Archive, limits: Limits, shape: str, width: Any) -> PolicyNetwork:
    """Read the network described by a file; raise ValueError if the weights do not match."""
    if type(width) is not int or width < 1:
        raise ValueError(f"width: expected a whole number from 1, found {width!r}")
    with torch.device("meta"):  # a corrupt file may state any width: allocate nothing
        network = PolicyNetwork(limits, shape, width)
    expected = {name: tuple(each.shape) for name, each in network.state_dict().items()}
    archive.require([f"{name}.npy" for name in ("about", *expected)])
    for name, size in expected.items():
        found = archive.layout(name)
        if found.dtype not in _STORED or found.shape != size:
            raise ValueError(
                f"{name}: expected {' or '.join(_STORED)} of shape {size}, found "
                f"{found.dtype} of shape {found.shape}"
            )
    weights = {}
    for name in expected:
        array = archive.read_array(name)
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers, found NaN or infinity")
        weights[name] = torch.from_numpy(array).float()
    network.load_state_dict(weights, assign=True)
    # buffers on the meta device have no values; they do not depend on the width
    for path, numbers in PolicyNetwork(limits, shape, 1).named_buffers():
        owner, _, name = path.rpartition(".")
        network.get_submodule(owner).register_buffer(name, numbers, persistent=False)
    return network
