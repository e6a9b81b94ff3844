"""The entries of an Inspect log, whole or cut short, one after the other.

An `.eval` file is a zip whose table of contents stands at its end: a crash of the machine or a full
disk takes that first, while the entries before it are still there, each with a header of its own.
This module finds them in either case, and reads a `.json` log member by member, so that a log of any
length needs the memory of one sample. What the entries mean is `inspect_logs`' business.

`zipfile` knows Zstandard once `inspect_ai` is imported, which the caller sees to.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from vimlib.runs import jsontext

HEADER = "header.json"
START = "_journal/start.json"

_LOCAL = struct.Struct("<4s5H3I2H")
_DESCRIPTOR = b"PK\x07\x08"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log, or why it cannot be read."""

    name: str
    """As in the zip: `header.json`, `samples/ID_epoch_1.json`; a `.json` log is given the same names."""
    value: Any
    """The JSON in it; None where it cannot be read."""
    unreadable: str | None = None
    """Why not, in words; None: `value` is there."""


class CutShort(ValueError):
    """The file ends too early; the message says where. What was read before stays good."""


def of_zip(path: Path) -> Iterator[Entry]:
    """The entries of an `.eval` log: header and start first, then the samples in the file's order.

    A sample that was written again comes as often as it was written. Raises CutShort at the end of a
    file whose end is missing; OSError, zipfile.BadZipFile for a file that is no zip at all.
    """
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            yield from _of_cut_zip(file)
            raise CutShort("the end of the file is missing") from None
        with archive:
            infos = archive.infolist()
            first = [info for info in infos if info.filename in (HEADER, START)]
            for info in (*first, *(info for info in infos if info.filename.startswith("samples/"))):
                yield _entry(file, info, info.header_offset + 30 + _extra(file, info))


def of_json(path: Path) -> Iterator[Entry]:
    """The entries of a `.json` log under the names that they have in a zip; the header as it grows.

    The header comes before the first sample, with what stood before it, and again at the end where
    more stood after it. Raises CutShort, or ValueError where the file is no JSON.
    """
    header: dict[str, Any] = {}
    given, number = -1, 0
    with path.open("rb") as file:
        try:
            for name, value in jsontext.members(file, listed=frozenset({"samples", "reductions"})):
                if name == "samples":
                    if given < len(header):
                        given = len(header)
                        yield Entry(HEADER, dict(header))
                    number += 1
                    yield Entry(f"samples/{number}", value)
                elif name != "reductions":
                    header[name] = value
        except jsontext.EndsTooEarly:
            if given < len(header):
                yield Entry(HEADER, dict(header))
            raise CutShort("the JSON ends too early") from None
    if given < len(header):
        yield Entry(HEADER, dict(header))


def sample_of(name: str) -> tuple[str, int] | None:
    """Id and epoch in the name of a sample's entry; None: it has none."""
    stem, mark, epoch = name.removeprefix("samples/").removesuffix(".json").rpartition("_epoch_")
    return (stem, int(epoch)) if mark and epoch.isdigit() else None


def _extra(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Length of name and extra field in the local header, which may differ from the table's."""
    file.seek(info.header_offset + 26)
    name, extra = struct.unpack("<2H", file.read(4))
    return int(name + extra)


def _entry(file: BinaryIO, info: zipfile.ZipInfo, data: int) -> Entry:
    try:
        file.seek(data)
        with zipfile.ZipExtFile(file, "r", info) as content:
            return Entry(info.filename, json.loads(content.read()))
    except RecursionError:
        return Entry(info.filename, None, "JSON nested too deeply")
    except Exception as error:
        # Each compression has errors of its own; to the user they mean the same.
        return Entry(info.filename, None, f"{type(error).__name__}: {' '.join(str(error).split())[:120]}")


def _of_cut_zip(file: BinaryIO) -> Iterator[Entry]:
    """Entries by their own headers, up to the first that is not whole."""
    file.seek(0, 2)
    size = file.tell()
    place = 0
    while place + _LOCAL.size <= size:
        file.seek(place)
        magic, _, flags, method, _, _, crc, packed, unpacked, name_size, extra_size = _LOCAL.unpack(
            file.read(_LOCAL.size)
        )
        if magic != b"PK\x03\x04":
            return
        name = file.read(name_size).decode("utf-8", "replace")
        extra = file.read(extra_size)
        data = place + _LOCAL.size + name_size + extra_size
        if 0xFFFFFFFF in (packed, unpacked):
            unpacked, packed = _zip64(extra, unpacked, packed)
        behind = 0
        if flags & 8 and not packed:
            found = _described(file, data)
            if found is None:
                if name.startswith("samples/"):
                    yield Entry(name, None, "cut short")
                return
            crc, packed, unpacked, behind = found
        info = zipfile.ZipInfo(name)
        info.compress_type, info.CRC = method, crc
        info.compress_size, info.file_size = packed, unpacked
        if data + packed > size:
            if name.startswith("samples/"):
                yield Entry(name, None, "cut short")
            return
        if name in (HEADER, START) or name.startswith("samples/"):
            yield _entry(file, info, data)
        place = data + packed + behind


def _zip64(extra: bytes, unpacked: int, packed: int) -> tuple[int, int]:
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1 and length >= 16:
            return cast("tuple[int, int]", struct.unpack_from("<2Q", extra, place + 4))
        place += 4 + length
    return unpacked, packed


def _described(file: BinaryIO, data: int) -> tuple[int, int, int, int] | None:
    """CRC, sizes and own length of the descriptor behind data whose size its header does not say."""
    file.seek(data)
    content = file.read()
    place = content.find(_DESCRIPTOR)
    while place >= 0:
        for sizes, length in (("<3I", 16), ("<I2Q", 24)):
            if place + length <= len(content):
                crc, packed, unpacked = struct.unpack_from(sizes, content, place + 4)
                if packed == place:
                    return crc, packed, unpacked, length
        place = content.find(_DESCRIPTOR, place + 1)
    return None
