"""Files that are generated and committed: writes them, or compares them with what they should be."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
Contents = Mapping[Path, str | bytes]


def main(command: str, description: str, generate: Callable[[], Contents], arguments: Sequence[str]) -> int:
    """The command line of a script that generates such files; returns its exit status."""
    check = parser(command, description).parse_args(arguments).check
    return keep(generate(), command, check=check)


def parser(command: str, description: str) -> argparse.ArgumentParser:
    """For a script with ``--check``, and maybe more."""
    made = argparse.ArgumentParser(prog=command, description=description)
    made.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    return made


def keep(contents: Contents, command: str, *, check: bool) -> int:
    """Writes files, or says which ``command`` would write them; returns the exit status."""
    if not check:
        write(contents)
        return 0
    found = stale(contents)
    for path in found:
        print(f"{path.name} is out of date, run: {command}")
    return 1 if found else 0


def write(contents: Contents) -> None:
    """Writes the files that are stale."""
    for path in stale(contents):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(contents[path]))
        print(f"wrote {path.name}")


def stale(contents: Contents) -> list[Path]:
    """Files that are missing or have another content."""
    return [path for path in contents if not path.is_file() or path.read_bytes() != _bytes(contents[path])]


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
