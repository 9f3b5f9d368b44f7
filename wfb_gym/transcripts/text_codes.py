"""Text codes of positions and games: letters, digits, dashes and dots, in three or four parts.

A code is ``KIND.SCENARIO.DATA``, such as ``p1.archmage-duel.2kLm``, or ``KIND.own.DATA.DOCUMENT``
with the scenario's document. KIND is a letter and the version of the format. DATA ends with a
checksum of everything that the code depends on: the kind, the scenario's document, the layout of
states and the data.
"""

import hashlib
import json
import string
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.engine.state import STATE
from wfb_gym.scenario import (
    Scenario,
    ScenarioError,
    bundled_scenarios,
    hidden_scenarios,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.scenario.errors import printable, shortened
from wfb_gym.scenario.profiles import character_profiles, unit_profiles
from wfb_gym.suggestions import one_of

if TYPE_CHECKING:
    from wfb_gym.generating import Generation

MAX_CHARACTERS = 2**14
"""Maximum length of a code. Codes with a scenario's document have up to 3,500 characters."""
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_BLOCK, _BLOCK_DIGITS = 8, 11  # bytes in a block, and the number of base-62 digits that hold them
_LENGTHS = {0: 0, 2: 1, 3: 2, 5: 3, 6: 4, 7: 5, 9: 6, 10: 7, 11: 8}
"""Bytes in a block, by its number of digits."""
_DIGITS_OF = {size: digits for digits, size in _LENGTHS.items()}
_CHECKSUM = 4
_OWN = "own"
_FROM_LORE = ("casting_value", "duration", "effect")
_MOST_SHOWN = 60
_SMALL = 4  # numbers below it take the fewest bits; a power of two
_MOST_BITS = 132  # maximum number of leading zeros of a number, enough for a seed of 128 bits


class TextCodeError(ValueError):
    """Raised for a text that is not the expected code, or that this version cannot read."""


class Kind(NamedTuple):
    """A kind of code: its first part and its name."""

    prefix: str
    name: str

    def error(self, problem: str, text: str) -> TextCodeError:
        """Return the error for a code."""
        shown = shortened(printable(text), _MOST_SHOWN)
        return TextCodeError(f"expected {self.name}, found {shown!r}: {problem}")


def encode(kind: Kind, scenario: Scenario, data: bytes) -> str:
    """Return the code for a scenario and data."""
    name = _name_of(_document_of(scenario))
    parts = [kind.prefix, name or _OWN, to_base62(data + _checksum(kind, scenario, data))]
    if name is None:
        parts.append(to_base62(zlib.compress(_short_document_of(scenario), 9)))
    return ".".join(parts)


def decode(kind: Kind, text: str) -> tuple[Scenario, bytes]:
    """Return the scenario and the data of a code.

    Raises:
        TextCodeError: if the text is not a code of this kind, is mistyped, or was made by another
            version.
    """
    text = text.strip()
    if len(text) > MAX_CHARACTERS:
        raise kind.error(f"at most {MAX_CHARACTERS:,} characters, found {len(text):,}", text)
    prefix, *parts = text.split(".")
    if prefix != kind.prefix or len(parts) not in (2, 3):
        raise kind.error(f"a code begins with {kind.prefix}. and a scenario", text)
    try:
        scenario = _own(parts) if parts[0] == _OWN else _named(parts)
    except (ScenarioError, ValueError, RecursionError) as error:
        raise kind.error(str(error).splitlines()[0], text) from error
    data = from_base62(parts[1])
    if data is None or len(data) < _CHECKSUM:
        raise kind.error("a part is mistyped or missing", text)
    data, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if checksum != _checksum(kind, scenario, data):
        raise kind.error("it is mistyped, or another version of wfb_gym made it", text)
    return scenario, data


def _checksum(kind: Kind, scenario: Scenario, data: bytes) -> bytes:
    digest = hashlib.sha256(kind.prefix.encode() + b"\0" + data + b"\0")
    digest.update(_document_of(scenario))
    digest.update(repr(STATE.descr).encode())
    return digest.digest()[:_CHECKSUM]


# --- scenarios -----------------------------------------------------------------------------


def _document_of(scenario: Scenario) -> bytes:
    return scenario.model_dump_json(exclude_defaults=True).encode()


@lru_cache(maxsize=64)
def _name_of(document: bytes) -> str | None:
    """Return the name under which `_named` finds a document, or None if there is none."""
    name = str(json.loads(document)["name"])
    if name in (*bundled_scenarios(), *hidden_scenarios()):
        return name if _document_of(load_scenario(name)) == document else None
    word, _, seed = name.rpartition("-")
    if word == "generated" and seed.isdecimal():
        for kind in _kinds():
            if _document_of(_generated(kind, seed)) == document:
                return f"{kind}-{seed}"
    return None


def _named(parts: list[str]) -> Scenario:
    name = parts[0]
    if len(parts) != 2:
        raise ValueError(f"no document with {name}")
    known = [*bundled_scenarios(), *hidden_scenarios()]
    if name in known:
        return load_scenario(name)
    kind, _, seed = name.rpartition("-")
    if seed.isdecimal() and kind in _kinds():
        return _generated(kind, seed)
    raise ValueError(f"scenario: expected {one_of(known, name, 'the name of a scenario')}")


@lru_cache
def _kinds() -> "dict[str, Generation]":
    """Return the options of single generated scenarios, by name."""
    from wfb_gym.generating import OPTIONS_BY_NAME, Generation  # slow import

    return {name: each for name, each in OPTIONS_BY_NAME.items() if isinstance(each, Generation)}


def _generated(kind: str, seed: str) -> Scenario:
    from wfb_gym.generating import generate

    return generate(int(seed), _kinds()[kind])


def is_named(scenario: Scenario) -> bool:
    """Return whether a code has only the scenario's name, because it is bundled or generated."""
    return _name_of(_document_of(scenario)) is not None


def _short_document_of(scenario: Scenario) -> bytes:
    """Return the shortest document that is read back as the same scenario."""
    document = json.loads(_document_of(scenario))
    for each in (_without_known_values(document), document):
        try:
            if scenario_from_dict(each) == scenario:
                return json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()
        except ScenarioError:
            continue
    return scenario.model_dump_json().encode()


def _without_known_values(value: Any) -> Any:
    """Return a document without the values that its profiles and lores supply."""
    if isinstance(value, list):
        return [_without_known_values(each) for each in value]
    if not isinstance(value, dict):
        return value
    known: dict[str, Any] = {}
    if value.get("lore") is not None and "casting_value" in value:
        known = {key: value[key] for key in _FROM_LORE if key in value}
    elif "profile" in value:
        name = value["profile"]
        profile = unit_profiles().get(name) or character_profiles().get(name)
        known = {} if profile is None else profile.model_dump(mode="json")
    return {
        key: _without_known_values(each)
        for key, each in value.items()
        if key not in known or known[key] != each
    }


def _own(parts: list[str]) -> Scenario:
    packed = from_base62(parts[2]) if len(parts) == 3 else None
    if packed is None:
        raise ValueError("the scenario's document is mistyped or missing")
    unpacker = zlib.decompressobj()
    try:
        document = unpacker.decompress(packed, MAX_BYTES)
    except zlib.error:
        raise ValueError("the scenario's document is mistyped") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"expected a scenario of at most {MAX_BYTES:,} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("the scenario's document is mistyped")
    found = json.loads(document)
    if not isinstance(found, dict):
        raise ValueError("expected a scenario's document")
    return scenario_from_dict(found)


# --- numbers -------------------------------------------------------------------------------


def to_base62(data: bytes) -> str:
    """Return bytes in base 62, by blocks."""
    text = ""
    for first in range(0, len(data), _BLOCK):
        block = data[first : first + _BLOCK]
        number = int.from_bytes(block, "little")
        for _ in range(_DIGITS_OF[len(block)]):
            number, digit = divmod(number, len(_DIGITS))
            text += _DIGITS[digit]
    return text


def from_base62(text: str) -> bytes | None:
    """Return the bytes of a text, or None if `to_base62` does not write it."""
    data = bytearray()
    for first in range(0, len(text), _BLOCK_DIGITS):
        block = text[first : first + _BLOCK_DIGITS]
        size = _LENGTHS.get(len(block))
        if size is None or not all(digit in _VALUES for digit in block):
            return None
        number = sum(_VALUES[digit] * len(_DIGITS) ** k for k, digit in enumerate(block))
        if number >= 256**size:
            return None
        data += number.to_bytes(size, "little")
    return bytes(data)


class Writer:
    """Writes whole numbers as few bits: 3 for those below 4, 5 below 12, 7 below 28 and so on."""

    def __init__(self) -> None:
        self._bits: list[str] = []

    @property
    def data(self) -> bytes:
        """The bytes written so far, padded with zeros."""
        bits = "".join(self._bits)
        size = -(-len(bits) // 8)
        return int(f"{bits:0<{8 * size}}" or "0", 2).to_bytes(size, "big")

    def bits(self, number: int, size: int) -> None:
        """Write a number below `2**size` as that many bits."""
        if size:
            self._bits.append(f"{number:0{size}b}")

    def natural(self, number: int) -> None:
        """Write a number from 0 on, as an exponential-Golomb code."""
        size = (number + _SMALL).bit_length()
        self.bits(number + _SMALL, 2 * size - _SMALL.bit_length())

    def integer(self, number: int) -> None:
        """Write a number of either sign."""
        self.natural(2 * number if number >= 0 else -2 * number - 1)

    def bytes(self, data: bytes) -> None:
        """Write bytes, after their number."""
        self.natural(len(data))
        self.bits(int.from_bytes(data, "big"), 8 * len(data))


class Reader:
    """Reads the numbers of a `Writer`.

    Raises:
        ValueError: in every method, if the data ends early or is invalid.
    """

    def __init__(self, data: bytes) -> None:
        self._bits = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}" if data else ""
        self._next = 0

    def bits(self, size: int) -> int:
        """Return the number of the next bits."""
        taken = self._bits[self._next : self._next + size]
        if len(taken) != size:
            raise ValueError("the data ends early")
        self._next += size
        return int(taken, 2) if taken else 0

    def natural(self) -> int:
        """Read a number from 0 on."""
        first = self._bits.find("1", self._next, self._next + _MOST_BITS)
        if first < 0:
            raise ValueError("the data ends early or a number is too large")
        return self.bits(2 * (first - self._next) + _SMALL.bit_length()) - _SMALL

    def integer(self) -> int:
        """Read a number of either sign."""
        half, is_negative = divmod(self.natural(), 2)
        return -half - 1 if is_negative else half

    def bytes(self) -> bytes:
        """Read bytes, after their number."""
        size = self.natural()
        return self.bits(8 * size).to_bytes(size, "big")

    def end(self) -> None:
        """Check that only padding is left."""
        left = self._bits[self._next :]
        if len(left) >= 8 or "1" in left:
            raise ValueError("expected no more data")
