"""Do both ways make the same templates? `python -m benchmarks.check_equal [COUNT]`.

Compares what `app.py` and the hand-written app synthesise, and what `inferstack render` prints: section by
section, resource by resource, without Metadata (inferstack adds the key of the spec that each comes from).
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.process import run
from benchmarks.surroundings import (
    app_program,
    environment,
    hand_program,
    inferstack_program,
    specs_folder,
)

Template = dict[str, Any]
# The logical id contains a hash of the policy's content, which nobody would write by hand.
_POLICY_HASH = re.compile(r"(?<=ExecutionPolicy)[0-9A-F]{8}")


def differences(count: int) -> list[str]:
    """Everything that differs, one line each."""
    with specs_folder(count) as folder:
        specs = [str(file) for file in sorted((folder / "model_specs").iterdir())]
        run(app_program(folder), environment())
        run(hand_program(folder, count), environment())
        run(inferstack_program(folder, "render", *specs, "--out", "rendered"), environment())
        found = len(_templates(folder / "hand.out"))
        if found != count:
            return [f"{found} templates by hand instead of {count}"]
        hand = folder / "hand.out"
        return [
            f"{way}: {line}"
            for way in ("cdk.out", "rendered")
            for line in differences_between(hand, folder / way)
        ]


def differences_between(hand: Path, other: Path) -> list[str]:
    """What differs between the templates of two folders, one line each."""
    return list(_differences(_templates(hand), _templates(other)))


def _templates(folder: Path) -> dict[str, Template]:
    files = folder.glob("*.template.json")
    return {file.name: json.loads(_POLICY_HASH.sub("", file.read_text("utf-8"))) for file in files}


def _differences(ours: dict[str, Template], theirs: dict[str, Template]) -> Iterator[str]:
    for name in sorted(ours.keys() | theirs.keys()):
        one, other = _parts(ours.get(name, {})), _parts(theirs.get(name, {}))
        for part in sorted(one.keys() | other.keys()):
            if one.get(part) != other.get(part):
                yield f"{name} {part}:\n  by hand    {one.get(part)}\n  inferstack {other.get(part)}"


def _parts(template: Template) -> dict[str, Any]:
    """Everything that has a name: resources without their metadata, outputs, mappings, the rest."""
    return {
        f"{section}.{name}": {key: it for key, it in part.items() if key != "Metadata"}
        for section, content in template.items()
        # It has only one possible value, so nobody writes it by hand.
        if section != "AWSTemplateFormatVersion"
        for name, part in (content.items() if isinstance(content, dict) else [("", {"is": content})])
    }


def _main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 24
    found = differences(count)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{count} endpoints: {len(found)} differences")
    sys.exit(bool(found))


if __name__ == "__main__":
    _main()
