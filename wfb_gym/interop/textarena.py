"""TextArena: a battle for two language models, or for one against a registered player.

Needs ``pip install "wfb-gym[textarena]"``. The environment is ``wfb_gym/MagicPhase-v0``, and
``wfb_gym/MagicPhase-v0-raw`` without wrappers. Positions, replies and points come from
`wfb_gym.interop.text`.
"""

from typing import Any

try:
    import textarena
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.textarena needs textarena: pip install "wfb-gym[textarena]"'
    ) from error

from wfb_gym._registration import register_with_textarena
from wfb_gym.interop.text_episodes import TextEpisodes
from wfb_gym.seats import SEATS

register_with_textarena(textarena)


class TextArenaEnv(textarena.Env):  # type: ignore[misc]
    """A battle in which each player answers decisions with texts.

    Player 0 is the caster and player 1 the dispeller. With an opponent, there is only player 0, in
    the seat `seat`. Rewards are the points that a player won, divided by `points_per_reward`; the
    rewards of two players sum to 0.

    Each player gets the rules as a prompt. At each of its decisions, it gets the events since its
    last decision, the position and the legal actions. Replies are shown only to their own player,
    because reasoning may mention hidden items. After `retries` replies that are not accepted, the
    lowest legal action is played, and ``invalid_move`` is set in the player's information.

    Args:
        settings: arguments of `wfb_gym.interop.text_episodes.TextEpisodes`, such as ``scenario``,
            ``seat`` and ``opponent``.

    Attributes:
        state: TextArena's state, after `reset`.
        game: the battle, a `wfb_gym.interop.text.TextGame`, after `reset`.
    """

    def __init__(self, **settings: Any) -> None:
        self._episodes = TextEpisodes(**settings)

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Start a battle.

        Args:
            num_players: 2, or 1 with an opponent.
            seed: seed of the dice, of the opponent and of a generated scenario, 0 or more. If None,
                the seed is random. TextArena also seeds Python's `random` with it.

        Raises:
            ValueError: if the number of players is wrong or the seed is negative.
            ScenarioError: if the scenario does not exist or is invalid.
        """
        self.game, _ = self._episodes.start(seed)
        seats = self.game.seats
        if num_players != len(seats):
            raise ValueError(f"num_players: expected {len(seats)}, found {num_players}")
        kinds = {1: textarena.SinglePlayerState, 2: textarena.TwoPlayerState}
        self.state = kinds[num_players](num_players, seed, error_allowance=self.game.retries)
        self.state.reset(
            game_state={},
            player_prompt_function=lambda player_id, game_state: self.game.rules(seats[player_id]),
            role_mapping={player: SEATS[seat].capitalize() for player, seat in enumerate(seats)},
        )
        self._show()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the action that a reply names; return whether the battle is over, and `StepInfo`."""
        state, kinds = self.state, textarena.ObservationType
        if state.done:
            return True, {}
        player = state.current_player_id
        state.add_observation(action, kinds.PLAYER_ACTION, from_id=player, to_id=player)
        _, _, _, info = self.game.step(action)
        state.step_info = dict(info)
        if info["action"] is None:
            state.set_invalid_move(reason=info["reason"])
        else:
            words = f"played [{info['action']}] {info['label']}"
            if info["forfeited"]:
                words = f"{info['reason']}; {words}, the lowest legal action"
                state.game_info[player]["invalid_move"] = True
            state.add_observation(words, kinds.GAME_ACTION_DESCRIPTION, to_id=player)
            self._show()
        done, shown = state.step() if state.num_players == 1 else state.step(rotate_player=False)
        return done, shown

    def _show(self) -> None:
        """Show the position to the player to move, or to all players after the end."""
        game, state = self.game, self.state
        board = textarena.ObservationType.GAME_BOARD
        for player, seat in enumerate(game.seats):
            if game.done or game.to_move == seat:
                state.add_observation(game.view(seat).text(), board, to_id=player)
        if game.done:
            rewards = {}
            for player, seat in enumerate(game.seats):
                result = game.result(seat)
                rewards[player] = self._episodes.reward(result.points)
                about = state.game_info[player]
                about.update(result.to_dict())
                about["reason"] = f"The battle is over: {result.points:+.1f} points"
            state.rewards, state.done = rewards, True
        elif state.num_players > 1:
            state.manually_set_current_player_id(game.to_move)
