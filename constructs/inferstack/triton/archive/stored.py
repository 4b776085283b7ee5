"""A gzip file whose content is stored, not compressed.

Weights hardly compress, and a compressor's output differs between versions of zlib. Stored blocks are
the same bytes on every machine, unpack at the speed of the disk, and make the size known beforehand.
The format: https://www.rfc-editor.org/rfc/rfc1952 around https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4
"""

import struct
import zlib
from collections.abc import Callable

Write = Callable[[bytes], object]
"""Takes bytes and passes them on."""

# Magic number, deflate; no name, no time, and no operating system that could differ.
_HEADER = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"
_BLOCK = 0xFFFF
_BLOCK_HEADER = struct.Struct("<BHH")
_TRAILER = struct.Struct("<II")


def _block_header(size: int, *, last: bool) -> bytes:
    return _BLOCK_HEADER.pack(int(last), size, size ^ _BLOCK)


_FULL_BLOCK = _block_header(_BLOCK, last=False)


def stored_size(content: int) -> int:
    """Bytes of the gzip file around this many bytes of content."""
    blocks = max(1, -(-content // _BLOCK))
    return len(_HEADER) + blocks * _BLOCK_HEADER.size + content + _TRAILER.size


class StoredGzip:
    """Wraps what is written. Where blocks end depends on the content alone, not on how it is written."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._held = bytearray()
        self._length = 0
        self._checksum = 0
        write(_HEADER)

    def write(self, data: bytes) -> None:
        """Adds to the content."""
        self._checksum = zlib.crc32(data, self._checksum)
        self._length += len(data)
        self._held += data
        # The last block is marked as the last, so one block is always held back.
        full = max(0, (len(self._held) - 1) // _BLOCK) * _BLOCK
        with memoryview(self._held) as held:
            for start in range(0, full, _BLOCK):
                # One by one: for many at once, the system would be asked for memory each time.
                self._write(b"".join((_FULL_BLOCK, held[start : start + _BLOCK])))
        del self._held[:full]

    def close(self) -> None:
        """Writes what is held, and the checksum."""
        self._write(_block_header(len(self._held), last=True) + self._held)
        self._write(_TRAILER.pack(self._checksum, self._length & 0xFFFFFFFF))
