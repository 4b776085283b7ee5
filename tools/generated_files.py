"""Files that are generated and committed: written, or compared with what they should be."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
Contents = Mapping[Path, str]


def stale(contents: Contents) -> list[Path]:
    """Files that are missing or hold something else."""
    return [path for path, text in contents.items() if not path.is_file() or _text(path) != text]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def main(command: str, description: str, generate: Callable[[], Contents], arguments: Sequence[str]) -> int:
    """The command line of a script that keeps such files; returns its exit status."""
    parser = argparse.ArgumentParser(prog=command, description=description)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    check = parser.parse_args(arguments).check
    contents = generate()
    found = stale(contents)
    for path in found:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(contents[path], encoding="utf-8", newline="\n")
        print(f"{path.name} is out of date, run: {command}" if check else f"wrote {path.name}")
    return 1 if check and found else 0
