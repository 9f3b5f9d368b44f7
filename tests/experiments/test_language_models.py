"""Language models: the evaluation set, registered players by text, servers, records, grading."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.common import FAILED
from experiments.conversations import phases
from experiments.conversations.phases import KINDS, evaluation_set
from experiments.statistics import ratio_interval
from tests.support.chat_server import last_action, serve
from tests.support.scripts import Scripts, results_in
from wfb_gym.cli.parser import COULD_NOT_RUN
from wfb_gym.generating import TRAIN_SEEDS
from wfb_gym.solver import normalised_score

COMMAND = "experiments.language_models"


@pytest.fixture
def one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "KINDS", ("duel",))


def test_the_evaluation_set_is_balanced_and_unseen() -> None:
    found = evaluation_set()
    assert len(found) == len({each.scenario.seed for each in found}) == 100
    for kind in KINDS:
        seats = [each.seat for each in found if each.scenario.kind == kind]
        assert (seats.count("caster"), seats.count("dispeller")) == (10, 10)
    assert all(each.scenario.seed not in TRAIN_SEEDS for each in found)
    assert all(each.seat in each.scenario.stakes for each in found)
    fewer = evaluation_set(4)
    assert fewer == [each for each in found if each in fewer]


def test_players_by_text_are_graded_like_players_in_environments(
    tmp_path: Path, scripts: Scripts, one_kind: None
) -> None:
    scripts.run(f"{COMMAND} veteran random optimal --count 2 --out {tmp_path}")
    rows = {row["player"]: row for row in results_in(tmp_path)["players"]}
    optimal, veteran, random = (rows[name] for name in ("optimal", "veteran", "random"))
    assert optimal["regret"]["value"] == 0.0
    assert optimal["kept"]["value"] == pytest.approx(100.0)
    assert random["regret"]["value"] > 0.0
    assert veteran["parse_failures"]["value"] == random["illegal_actions"]["value"] == 0.0
    # Against optimal play, regret is the loss of value: it is 0 in phases that veteran plays well.
    for line in recorded(tmp_path):
        phase = next(each for each in evaluation_set() if each.name == line["phase"])
        if line["player"] == "veteran":
            score = normalised_score(phase.scenario.scenario, "veteran", phase.seat)
            assert line["stake"] == pytest.approx(score.optimum - score.random)
            assert sum(line["regrets"]) < 1e-9 or score.guaranteed < score.optimum


def recorded(out: Path) -> list[Any]:
    return [json.loads(line) for line in (out / "parts.jsonl").read_text().splitlines()[1:]]


Fault = Callable[[BaseHTTPRequestHandler], None]
"""Answers a request with an error."""


class FakeServer:
    """A server with the chat interface of OpenAI.

    `faults` answer the first requests, and `fault_of_game` the first request of a game, from 1.
    """

    def __init__(self) -> None:
        self.reply: Callable[[str], Any] = last_action
        self.usage: Any = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
        self.faults: list[Fault] = []
        self.fault_of_game: dict[int, Fault] = {}
        self._games = 0
        self.requests: list[Any] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.requests.append(request | {"key": handler.headers["Authorization"]})
        self._games += len(request["messages"]) == 2
        fault = self.fault_of_game.pop(self._games, None) or (self.faults and self.faults.pop(0))
        if fault:
            fault(handler)
            return
        message = {"role": "assistant", "content": self.reply(request["messages"][-1]["content"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        document = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        send(handler, 200, json.dumps(document | {"choices": [choice], "usage": self.usage}))


def send(handler: BaseHTTPRequestHandler, status: int, text: str) -> None:
    content = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def server(one_kind: None) -> Iterator[FakeServer]:
    pytest.importorskip("openai")
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fake.answer(self)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with serve(Handler) as fake.url:
        yield fake


def command(server: FakeServer, out: Path) -> str:
    return f"{COMMAND} --model m --base-url {server.url} --count 2 --out {out}"


def test_a_model_on_a_server_is_graded_and_its_record_again(
    tmp_path: Path, scripts: Scripts, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "secret")
    # The record keeps line separators; half of a surrogate pair is replaced.
    server.reply = lambda text: f"a\u2028b\x85c\ud800 {last_action(text)}"
    out, again = tmp_path / "out", tmp_path / "again"
    extra = "--key OWN_KEY --parameter temperature=0 --parameter effort=low --odds"
    scripts.run(f"{command(server, out)} {extra}")
    (row,) = results_in(out)["players"]
    assert (row["player"], row["phases"]) == ("m", 2)
    asked = len(server.requests)
    assert row["tokens"] == {"prompt": 90 * asked, "completion": 10 * asked}
    first, last = server.requests[0], server.requests[-1]
    assert (first["model"], first["temperature"], first["effort"]) == ("m", 0, "low")
    assert first["key"] == "Bearer secret"
    assert [each["role"] for each in first["messages"]] == ["system", "user"]
    assert "Chances of" in first["messages"][1]["content"]
    # A game is one conversation.
    roles = [each["role"] for each in last["messages"]]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]

    scripts.run(f"{COMMAND} --replay {out}/parts.jsonl --out {again}")
    assert results_in(again)["players"] == results_in(out)["players"]
    assert len(server.requests) == asked  # no model is needed
    assert "secret" not in (out / "parts.jsonl").read_text() + (out / "results.json").read_text()


@pytest.mark.parametrize("reply", ["", None, "no action", "[0] or [1]", "[999]"])
def test_bad_replies_are_counted_and_forfeit_the_decision(
    tmp_path: Path, scripts: Scripts, server: FakeServer, reply: str | None
) -> None:
    server.reply, server.usage = (lambda _: reply), None
    scripts.run(f"{command(server, tmp_path)} --retries 1")
    (row,) = results_in(tmp_path)["players"]
    per_100 = row["illegal_actions" if reply == "[999]" else "parse_failures"]["value"]
    assert per_100 == 200.0  # of two replies, none is accepted
    assert row["forfeits"] == row["decisions"]
    assert row["tokens"] == {"prompt": None, "completion": None}
    asked = [each["messages"][-1]["content"] for each in server.requests]
    assert sum("Your reply was not accepted" in text for text in asked) == row["decisions"]


def error(status: int, message: str) -> Fault:
    return lambda handler: send(handler, status, json.dumps({"error": {"message": message}}))


fail, limit_rate = error(500, "overloaded"), error(429, "too many requests")


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1.0)
    handler.close_connection = True


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def test_a_request_is_repeated_after_a_fault(
    tmp_path: Path, scripts: Scripts, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *_: 0.0)
    server.faults = [fail, limit_rate, hang, hang_up]
    scripts.run(f"{command(server, tmp_path)} --timeout 0.5 --attempts 5")
    assert results_in(tmp_path)["players"][0]["phases"] == 2
    assert server.faults == []


def malformed(text: str) -> Fault:
    return lambda handler: send(handler, 200, text)


MALFORMED = (
    "{", "[]", '"hello"', "{}", '{"choices": []}', '{"choices": [{"message": {"content": 7}}]}',
    '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}", " " * 2**23 + "{}",
)  # fmt: skip


@pytest.mark.parametrize("fault", [fail, hang_up, *map(malformed, MALFORMED)])
def test_a_broken_server_ends_the_run_in_one_line_and_the_command_continues(
    tmp_path: Path, scripts: Scripts, server: FakeServer, fault: Fault
) -> None:
    whole = command(server, tmp_path)
    server.fault_of_game[2] = fault
    said = scripts.run(f"{whole} --attempts 1", FAILED)
    expected = f"python -m {COMMAND}: {server.url}: expected a reply of m, found "
    assert said.err.splitlines()[-1].startswith(expected)
    assert len(recorded(tmp_path)) == 1
    scripts.run(f"{whole} --attempts 1")
    assert results_in(tmp_path)["players"][0]["phases"] == 2
    games = [each for each in server.requests if len(each["messages"]) == 2]
    assert len(games) == 3  # the first phase is not played again


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a response that never ends, in steps shorter than the timeout."""
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):  # the client has closed the connection
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.05)


def test_endless_responses_time_out(tmp_path: Path, scripts: Scripts, server: FakeServer) -> None:
    server.faults = [drip]
    line = f"{command(server, tmp_path)} --timeout 0.5 --attempts 1"
    assert "found APITimeoutError" in scripts.run(line, FAILED).err


def test_the_key_and_control_characters_are_not_printed(
    tmp_path: Path, scripts: Scripts, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "secret")
    server.faults = [error(401, "wrong key secret\x1b[2J")]
    said = scripts.run(f"{command(server, tmp_path)} --key OWN_KEY", FAILED)
    assert "wrong key ..." in said.err
    assert "secret" not in said.err
    assert "\x1b" not in said.err


@pytest.mark.parametrize("count", [-5, 10**400, True, 1.5, "7"])
def test_impossible_numbers_of_tokens_are_unknown(
    tmp_path: Path, scripts: Scripts, server: FakeServer, count: Any
) -> None:
    server.usage = {"prompt_tokens": count, "completion_tokens": 10}
    scripts.run(command(server, tmp_path))
    (row,) = results_in(tmp_path)["players"]
    assert row["tokens"]["prompt"] is None
    assert row["tokens"]["completion"] > 0


def test_a_budget_needs_token_counts(tmp_path: Path, scripts: Scripts, server: FakeServer) -> None:
    server.usage = None
    said = scripts.run(f"{command(server, tmp_path)} --budget 1000000", FAILED)
    assert "--budget: expected counts of tokens from the server, found none" in said.err
    assert len(recorded(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("player", "a\nb"), ("points", "x"), ("regrets", [None]), ("regrets", [float("nan")]),
        ("stake", 0.0), ("forfeits", -1), ("tokens", {}),
        ("tokens", {"prompt": -1, "completion": 1}),
        ("tokens", {"prompt": 10**400, "completion": 1}), ("replies", "[0]"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_neither_continued_nor_replayed(
    tmp_path: Path, scripts: Scripts, one_kind: None, name: str, value: Any
) -> None:
    out = tmp_path / "out"
    scripts.run(f"{COMMAND} random --count 2 --out {out}")
    path = out / "parts.jsonl"
    first, second, third = path.read_text().splitlines()
    damaged = json.dumps({**json.loads(second), name: value})
    path.write_text(f"{first}\n{damaged}\n{third}\n")
    before = path.read_text()
    said = scripts.run(f"{COMMAND} random --count 2 --out {out}", COULD_NOT_RUN)
    assert "parts.jsonl: expected results of experiments.language_models" in said.err
    assert path.read_text() == before
    error = scripts.error(f"{COMMAND} --replay {path} --out {tmp_path}/again")
    assert "expected a record of experiments.language_models" in error


def test_too_many_replies_are_not_graded(tmp_path: Path, scripts: Scripts, one_kind: None) -> None:
    out = tmp_path / "out"
    scripts.run(f"{COMMAND} random --count 2 --out {out}")
    path = out / "parts.jsonl"
    first, second, _ = path.read_text().splitlines()
    line = json.loads(second)
    line["replies"].append("[0]")
    path.write_text(f"{first}\n{json.dumps(line)}\n")
    said = scripts.run(f"{COMMAND} --replay {path} --out {tmp_path}/again", FAILED)
    assert "the rules have changed since the recording" in said.err


def test_phases_end_with_the_budget(tmp_path: Path, scripts: Scripts, server: FakeServer) -> None:
    whole = command(server, tmp_path)
    said = scripts.run(f"{whole} --budget 1", FAILED)
    assert "1 phases are missing; the same command with a larger budget continues" in said.err
    asked = len(server.requests)
    scripts.run(f"{whole} --budget 1", FAILED)
    assert len(server.requests) == asked
    scripts.run(f"{whole} --budget 1000000")
    assert results_in(tmp_path)["players"][0]["phases"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--count 3", "--count: expected an even number, found 3"),
        ("--count 22", "--count: expected at most 20, found 22"),
        ("greedy --model m", "expected one of players, --model and --replay, found players, --mo"),
        ("--model m --parameter temperature", "--parameter: expected NAME=VALUE, found temper"),
        ("--model m --parameter model=n", "expected none of model, messages, stream, found model"),
        ("--model m --parameter stop=NaN", "--parameter stop: expected JSON or a text, found"),
        (f"--model m --parameter x={'[' * 2000}", "--parameter x: expected JSON or a text"),
        ("--model ''", "--model: expected a name of printable characters, found ''"),
        ("greedy --base-url http://x", "--base-url and --parameter: expected --model, found none"),
        ("--model m --base-url http://x\x7f", "--base-url: expected an address, found Invalid"),
        ("nobody", "nobody"),
        *(
            (f"--replay {{tmp}}/{each}.jsonl", f"{each}.jsonl: expected a record of {COMMAND}")
            for each in ("negative", "deep", "other", "cut")
        ),
        ("--replay {tmp}/missing.jsonl", "No such file"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    tmp_path: Path, scripts: Scripts, arguments: str, message: str
) -> None:
    (tmp_path / "other.jsonl").write_text('{"coverage": {}}\n')
    first = json.dumps({"conversation": {"odds": False, "retries": 2}})
    (tmp_path / "cut.jsonl").write_text(f'{first}\n{{"phase": "duel", "player": "m"}}\n')
    (tmp_path / "negative.jsonl").write_text(first.replace("2", "-1"))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    said = scripts.error(f"{COMMAND} {arguments.format(tmp=tmp_path)} --out {tmp_path}/out")
    assert message in said


def test_the_ratio_of_sums_has_an_interval_over_cases() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, 400).astype(np.float64)
    found = ratio_interval(counts * rng.normal(2.0, 1.0, 400), counts)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(2.0, abs=0.2)
    assert found.high - found.low == pytest.approx(4 * 1.0 / np.sqrt(400), rel=0.3)
    same = ratio_interval(3.0 * counts, counts)
    assert (same.low, same.high) == pytest.approx((3.0, 3.0))
