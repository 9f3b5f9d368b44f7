"""Reading of rosters in any supported format."""

import io
import re
import zipfile
import zlib

from wfb_gym.files import describe_error
from wfb_gym.rosters.battlescribe import read_json, read_xml
from wfb_gym.rosters.roster import MAX_BYTES, Roster, RosterError
from wfb_gym.rosters.text import read_text

_ZIP = b"PK"
_ZIP_MEMBERS = 4  # maximum number of members in a .rosz archive; BattleScribe writes one
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


def read_roster(data: bytes, name: str = "") -> Roster:
    """Read a roster: a .ros or .rosz file, JSON of New Recruit, or a list as plain text.

    The format is detected from the content.

    Args:
        data: the contents of the file.
        name: name for a roster without one.

    Raises:
        RosterError: if the data is no roster in a supported format, or exceeds a limit.
    """
    if len(data) > MAX_BYTES:
        raise RosterError(f"expected at most {MAX_BYTES:,} bytes, found {len(data):,}")
    if data[:2] == _ZIP:
        data = _unpacked(data)
    start = data[:400].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")
    if start.startswith((b"<", b"\x00<")):
        if b"<html" in data[:2000].lower():
            raise RosterError("expected a roster, found a web page: export it as .ros or as text")
        return read_xml(data).renamed(name)
    text = _decoded(data)
    if text.lstrip().startswith("{"):
        return read_json(text).renamed(name)
    return read_text(text).renamed(name)


def _decoded(data: bytes) -> str:
    """Decode text as UTF-8 or UTF-16, or as Windows-1252, which old editors write."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if _CONTROL.search(text):
        raise RosterError("expected a roster or a list as text, found binary data")
    return text


def _unpacked(data: bytes) -> bytes:
    """Return the .ros file in a .rosz archive, without writing any file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            rosters = [each for each in members if each.filename.lower().endswith(".ros")]
            if len(members) > _ZIP_MEMBERS or len(rosters) != 1:
                raise RosterError(
                    f"expected an archive with one .ros file, found {len(rosters)} in "
                    f"{len(members)} files"
                )
            if rosters[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise RosterError("expected a stored or deflated .ros file, found another method")
            with archive.open(rosters[0]) as file:
                content = file.read(MAX_BYTES + 1)
    except RosterError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, EOFError,
            NotImplementedError) as error:  # fmt: skip
        raise RosterError(f"expected a .rosz archive, found {describe_error(error)}") from None
    if len(content) > MAX_BYTES:
        raise RosterError(f"expected a roster of at most {MAX_BYTES:,} bytes in the archive")
    return content
