"""Speakers, which answer observations with replies, and the tokens that they use."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from experiments.outcomes import ExperimentError
from wfb_gym.interop.text import TextGame, text_player

INSTRUCTION = (
    "You play a game. Read the rules and the position, think, and end your reply with exactly one "
    "action in square brackets."
)
"""The system message of a conversation."""

MAX_SEEDS = 100
"""Maximum number of seeds to try for a game in which the speaker has a decision."""


@dataclass
class Usage:
    """Tokens that a speaker used so far; None if they are unknown."""

    prompt: int | None = 0
    completion: int | None = 0


class Speaker(Protocol):
    """Answers the observations of one game, in order."""

    usage: Usage

    def __call__(self, observation: str) -> str:
        """Return the reply to an observation."""


class RegisteredPlayer:
    """A registered player, which sees the position and speaks the action."""

    def __init__(self, name: str, game: TextGame, seat: str, seed: int) -> None:
        self.usage = Usage()
        self._player = text_player(name, game, seat, seed)

    def __call__(self, observation: str) -> str:
        """Return the reply to an observation."""
        return self._player(observation)


class RecordedReplies:
    """The replies of an earlier game.

    Raises:
        ExperimentError: if the game asks for more replies than were recorded.
    """

    def __init__(self, replies: Sequence[str], usage: Usage, name: str) -> None:
        self.usage = usage
        self._name, self._replies, self._count = name, iter(replies), len(replies)

    def __call__(self, observation: str) -> str:
        """Return the next reply."""
        try:
            return next(self._replies)
        except StopIteration:
            raise ExperimentError(
                f"{self._name}: expected a reply for each decision, found only {self._count}; "
                "the rules have changed since the recording"
            ) from None


@dataclass(frozen=True)
class Endpoint:
    """A server with the chat interface of OpenAI.

    Attributes:
        base_url: its address; None for the address in the environment, or OpenAI's own.
        model: the name of the model.
        key: name of the environment variable with the key.
        timeout: seconds until a request is repeated.
        attempts: number of times that a request is sent before the run ends.
        parameters: other parameters of a request, such as "temperature".
    """

    base_url: str | None
    model: str
    key: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    attempts: int = 5
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def client(self) -> Any:
        """Return a client of the package openai.

        Raises:
            ExperimentError: if the package is missing.
        """
        try:
            from openai import OpenAI
        except ImportError as error:
            needed = 'language models need openai: pip install "wfb-gym[language-models]"'
            raise ExperimentError(f"{needed} ({error})") from error
        return OpenAI(
            base_url=self.base_url,
            # a server on this machine needs no key, but the client does
            api_key=os.environ.get(self.key) or "none",
            timeout=self.timeout,
            max_retries=self.attempts - 1,
        )


class ChatModel:
    """A model behind an endpoint. Each game is one conversation with all messages so far."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.usage = Usage()
        self._endpoint, self._client = endpoint, endpoint.client()
        self._messages = [{"role": "system", "content": INSTRUCTION}]

    def __call__(self, observation: str) -> str:
        """Return the model's reply; "" if it sends none.

        Raises:
            ExperimentError: if the server fails or sends something else than a reply.
        """
        from openai import OpenAIError

        self._messages.append({"role": "user", "content": observation})
        endpoint = self._endpoint
        try:
            answer = self._client.chat.completions.create(
                model=endpoint.model, messages=self._messages, extra_body=dict(endpoint.parameters)
            )
            reply = answer.choices[0].message.content or ""
            if not isinstance(reply, str):
                raise TypeError(f"expected a text, found {type(reply).__name__}")
        except (OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            where = endpoint.base_url or "the endpoint"
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ExperimentError(
                f"{where}: expected a reply of {endpoint.model}, found {reason[:300]}"
            ) from error
        self._messages.append({"role": "assistant", "content": reply})
        self._count(answer.usage)
        return reply

    def _count(self, used: Any) -> None:
        for name in ("prompt", "completion"):
            before, more = getattr(self.usage, name), getattr(used, f"{name}_tokens", None)
            known = before is not None and isinstance(more, int)
            setattr(self.usage, name, before + more if known else None)


def replies_to(game: TextGame, speaker: Speaker) -> Iterator[str]:
    """Play a game to its end, yielding the speaker's replies.

    The seed of the dice is the first one, from 0, with which the speaker has a decision. If none of
    `MAX_SEEDS` is, there are no replies.
    """
    for seed in range(MAX_SEEDS):
        observation = game.reset(seed)
        if not game.done:
            break
    while not game.done:
        reply = speaker(observation)
        yield reply
        observation, _, _, _ = game.step(reply)
