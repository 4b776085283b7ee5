"""What an upgrade changes although no spec does: templates, problems that were not reported before, promises.

``python -m tools.template_changes --since v1.2.0`` renders the examples and shapes of that version with its
code and with the code here, and asks :mod:`tools.kept_promises` what else is not as it was. What it prints
belongs into the changelog; with ``--check`` it fails until the changelog has a section about templates, and
names whatever else has changed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from tools import kept_promises

ROOT = Path(__file__).parents[1]
SPECS = ("model_specs", "tests/shapes", "docs/examples/kinds")
CHANGELOG = ROOT / "CHANGELOG.md"
SECTION = "### Templates"
_RENDERER = Path(__file__).with_name("templates_of.py")
_SHOWN = 3
_TAGS = "v[0-9]*"

Rendered = dict[str, dict[str, Any]]


class Change(NamedTuple):
    """One change, which many specs may have: of a type's property, or of what is reported."""

    where: str
    what: str


def main(words: list[str] | None = None) -> int:
    """Prints the changes.

    Returns:
        1 if they should be in the changelog and are not, else 0.
    """
    options = arguments().parse_args(words)
    since = options.since or last_release()
    if since is None:
        print(without_release())
        return 0
    with tempfile.TemporaryDirectory() as name:
        other = version_in(since, Path(name))
        changes = changes_since(other)
        broken = [Change(*it) for it in kept_promises.broken(other, ROOT)]
    print(report(changes, since), *(f"- `{it.where}`: {it.what}" for it in broken), sep="\n")
    missing = [*unmentioned(changes, broken, news(since))] if options.check else []
    for entry in missing:
        print(f"{CHANGELOG.name} does not have {entry} in what is new since {since}", file=sys.stderr)
    return int(bool(missing))


def unmentioned(changes: Mapping[Change, list[str]], broken: Iterable[Change], text: str) -> Iterator[str]:
    """What the changelog should have, and has not."""
    if changes and SECTION not in text:
        yield f"a section {SECTION!r}"
    yield from (f"`{it.where}`" for it in broken if it.where not in text)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.template_changes", description=__doc__)
    since = "a tag or commit, or a folder with another version (default: the last release)"
    parser.add_argument("--since", metavar="TAG|DIR", help=since)
    parser.add_argument("--check", action="store_true", help="fail if they are not in the changelog")
    return parser


def last_release() -> str | None:
    """The last release before this commit; if this one is a release itself, the one before."""
    own = git("tag", "--points-at", "HEAD", "--list", _TAGS).split()
    others = (f"--exclude={tag}" for tag in own)
    return git("describe", "--tags", "--abbrev=0", "--match", _TAGS, *others) or None


def git(*words: str) -> str:
    """What git prints; nothing if it fails, as it does where there is no repository."""
    done = subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def without_release() -> str:
    """Why there is nothing to compare with."""
    if git("rev-parse", "--is-shallow-repository") == "false":
        return "no release yet, so nothing to compare with"
    return "nothing to compare with: this is no clone with its history, which has the tags of releases"


def version_in(since: str, folder: Path) -> Path:
    """The folder with the other version, unpacked from git unless it is one already."""
    if Path(since).is_dir():
        return Path(since).resolve()
    archive = subprocess.run(["git", "archive", since], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


# ---------------------------------------------------------------- both versions, on the specs of the other


def changes_since(other: Path) -> dict[Change, list[str]]:
    """What the version here makes of the other one's specs differently, and of which."""
    before, after = rendered(other, other), rendered(ROOT, other)
    specs_of = defaultdict(list)
    for spec, old in before.items():
        for change in dict.fromkeys(spec_changes(old, after[spec])):
            specs_of[change].append(spec)
    return dict(specs_of)


def rendered(code: Path, specs: Path) -> Rendered:
    """What the code in one folder makes of the specs in another."""
    files = [
        str(file.relative_to(specs)) for folder in SPECS for file in sorted((specs / folder).glob("*.yaml"))
    ]
    done = subprocess.run(
        [sys.executable, _RENDERER, *files],
        cwd=specs,
        env={**os.environ, "PYTHONPATH": str(code / "constructs")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{code} cannot render the specs in {specs}:\n{done.stderr}")
    made: Rendered = json.loads(done.stdout)
    return made


def spec_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """What differs for one spec."""
    for code in after["problems"].keys() - before["problems"].keys():
        yield Change(code, f"is reported now: {after['problems'][code]}")
    if before["template"] is not None and after["template"] is not None:
        yield from template_changes(before["template"], after["template"])


def template_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """What differs between two templates of one spec, by the types of resources instead of their names."""
    old, new = before["Resources"], after["Resources"]
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield Change(old[name]["Type"], f"{_kind(name)} is removed")
        elif name not in old:
            yield Change(new[name]["Type"], f"{_kind(name)} is added")
        else:
            for path, what in differences(old[name], new[name]):
                yield Change(new[name]["Type"], f"{path} {what}")
    for path, what in differences(_without_resources(before), _without_resources(after)):
        yield Change(path, what)


def _kind(name: str) -> str:
    """A logical ID without what makes it unique."""
    return re.sub(r"[0-9A-F]{8}$", "…", name)


def _without_resources(template: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in template.items() if key != "Resources"}


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The paths at which two values differ, and how."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            inner = f"{path}.{key}" if path else key
            if key not in after:
                yield inner, "is removed"
            elif key not in before:
                yield inner, "is added"
            else:
                yield from differences(before[key], after[key], inner)
    elif before != after:
        yield path, "has another value"


# ---------------------------------------------------------------- report


def report(changes: Mapping[Change, list[str]], since: str) -> str:
    """The changes as Markdown, those that concern most specs first."""
    if not changes:
        return f"No template changes since {since}."
    ranked = sorted(changes.items(), key=lambda it: (-len(it[1]), it[0]))
    return "\n".join(f"- `{change.where}`: {change.what} ({_named(specs)})" for change, specs in ranked)


def _named(specs: list[str]) -> str:
    more = len(specs) - _SHOWN
    return ", ".join(specs[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def news(since: str) -> str:
    """What the changelog says since a version: all above its section, or else what is unreleased."""
    text = CHANGELOG.read_text("utf-8").partition("## [Unreleased]")[2]
    before, found, _ = text.partition(f"\n## [{since.removeprefix('v')}]")
    return before if found else text.partition("\n## ")[0]


if __name__ == "__main__":
    sys.exit(main())
