"""Language models behind a server, and the tokens that they use."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.outcomes import ExperimentError
from wfb_gym.files import describe_error

INSTRUCTION = (
    "You play a game. Read the rules and the position, think, and end your reply with exactly one "
    "action in square brackets."
)
"""The system message of a conversation."""

MAX_TOKENS = 10**12
"""Maximum number of tokens in a count; larger counts are unknown."""
_MAX_RESPONSE = 1 << 23
"""Maximum size of a server's response, in bytes."""
_CODED = ("content-encoding", "content-length", "transfer-encoding")


@dataclass
class Usage:
    """Tokens that a model used so far; None if they are unknown."""

    prompt: int | None = 0
    completion: int | None = 0


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
            ValueError: if the address is invalid.
        """
        try:
            from httpx2 import ReadTimeout  # a dependency of openai, which repeats such requests
            from openai import DefaultHttpxClient, OpenAI
        except ImportError as error:
            needed = 'language models need openai: pip install "wfb-gym[language-models]"'
            raise ExperimentError(f"{needed} ({error})") from error

        http: Any = DefaultHttpxClient(timeout=self.timeout)
        send = http.send

        def send_limited(request: Any, **options: Any) -> Any:
            deadline = time.monotonic() + self.timeout
            response = send(request, **{**options, "stream": True})
            content = bytearray()
            try:
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MAX_RESPONSE:
                        raise ValueError(f"expected at most {_MAX_RESPONSE:,} bytes")
                    if time.monotonic() > deadline:
                        raise ReadTimeout("the response is incomplete", request=request)
            finally:
                response.close()
            headers = {k: v for k, v in response.headers.items() if k.lower() not in _CODED}
            return type(response)(
                response.status_code, headers=headers, content=bytes(content), request=request
            )

        http.send = send_limited  # limits the size of a response and the time until its end
        try:
            return OpenAI(
                base_url=self.base_url,
                # a server on this machine needs no key, but the client does
                api_key=self.secret or "none",
                timeout=self.timeout,
                max_retries=self.attempts - 1,
                http_client=http,
            )
        except Exception as error:  # the HTTP library has no common class for invalid addresses
            text = describe_error(error)
            raise ValueError(f"--base-url: expected an address, found {text}") from error

    @property
    def secret(self) -> str:
        """The key, or "" if the environment has none."""
        return os.environ.get(self.key, "")

    def reason(self, error: BaseException) -> str:
        """Return an error and its cause as one printable line without the key."""
        causes = [error, *([error.__cause__] if error.__cause__ else [])]
        text = ": ".join(f"{type(each).__name__}: {each}" for each in causes)
        for key in (self.secret, repr(self.secret)[1:-1]):
            text = text.replace(key, "...") if key else text
        return describe_error(ValueError(text))


class ChatModel:
    """A model behind an endpoint. A game is one conversation; `usage` counts its tokens."""

    def __init__(self, endpoint: Endpoint, usage: Usage) -> None:
        self.usage = usage
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
            # Half of a surrogate pair can neither be sent nor stored.
            reply = reply.encode("utf-8", "replace").decode()
        except (OpenAIError, ArithmeticError, AttributeError, LookupError, RecursionError,
                TypeError, ValueError) as error:  # fmt: skip
            where = endpoint.base_url or "the endpoint"
            raise ExperimentError(
                f"{where}: expected a reply of {endpoint.model}, found {endpoint.reason(error)}"
            ) from error
        self._messages.append({"role": "assistant", "content": reply})
        self._count(answer.usage)
        return reply

    def _count(self, used: Any) -> None:
        for name in ("prompt", "completion"):
            before, more = getattr(self.usage, name), getattr(used, f"{name}_tokens", None)
            known = type(more) is int and 0 <= more <= MAX_TOKENS and before is not None
            setattr(self.usage, name, before + more if known else None)
