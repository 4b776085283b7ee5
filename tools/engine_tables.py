"""Generates what engines of language models accept, from wheels and sources of their versions in build/.

    pip download --no-deps --dest build vllm==0.33.0      (and further versions; sglang likewise)
    git clone https://github.com/huggingface/text-generation-inference build/text-generation-inference
    git clone https://github.com/huggingface/text-embeddings-inference build/text-embeddings-inference

What build/ lacks stays as it is in the tables, so one newer wheel is enough to add its version.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

from tools.clap_options import clap_options
from tools.generated_files import PACKAGE, ROOT, Contents
from tools.sglang_flags import sglang_flags
from tools.vllm_flags import vllm_table

Row = dict[str, object]
Version = tuple[int, ...]
Content = tuple[dict[str, Row], set[str]]
"""The options of one version, and the names of the environment variables that it knows besides."""

DATA = PACKAGE / "engines" / "data"
BUILD = ROOT / "build"
WHEELS: Mapping[str, tuple[int, Callable[[ZipFile], Content]]] = {
    "vllm": (2, vllm_table),
    "sglang": (3, lambda wheel: (sglang_flags(wheel), set())),
}
"""How many numbers of a version count, and what reads a wheel. vLLM's third is for corrections only."""
CLONES = {
    "tgi": ("text-generation-inference", "launcher/src/main.rs", ("launcher/src/main.rs",), (0, 9)),
    "tei": (
        "text-embeddings-inference",
        "router/src/main.rs",
        ("router/src/main.rs", "backends/core/src/lib.rs", "backends/src/dtype.rs"),
        (1, 2),
    ),
}
"""Where each clone is in build/, the file with the options, those with enumerations, the oldest version."""


def generate() -> Contents:
    """A table for each engine."""
    found = {engine: {**_kept(engine), **dict(_read(engine))} for engine in (*WHEELS, *CLONES)}
    return {DATA / f"{engine}.json": _render(dict(sorted(of.items()))) for engine, of in found.items()}


def _read(engine: str) -> Iterator[tuple[Version, Content]]:
    if engine in CLONES:
        yield from _of_clone(*CLONES[engine])
        return
    numbers, read = WHEELS[engine]
    for wheel in sorted(BUILD.glob(f"{engine}-*.whl")):
        with ZipFile(wheel) as archive:
            yield _version(wheel.name.split("-")[1])[:numbers], read(archive)


def _of_clone(
    folder: str, main: str, enumerations: tuple[str, ...], oldest: Version
) -> Iterator[tuple[Version, Content]]:
    clone = BUILD / folder
    for tag in _git(clone, "tag").split() if clone.is_dir() else ():
        if re.fullmatch(r"v\d+\.\d+\.\d+", tag) and _version(tag[1:]) >= oldest:
            there = set(_git(clone, "ls-tree", "-r", "--name-only", tag).split())
            sources = [_git(clone, "show", f"{tag}:{it}") for it in (main, *enumerations) if it in there]
            yield _version(tag[1:]), (clap_options(*sources), set())


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True).stdout


def _version(text: str) -> Version:
    """Its numbers; `0.5.12.post1` is 0.5.12 to the image that has it."""
    return tuple(int(it) for it in re.findall(r"\d+", text.partition(".post")[0]))


# ---------------------------------------------------------------- one table of several versions


def _kept(engine: str) -> dict[Version, Content]:
    """What the committed table says of each version."""
    path = DATA / f"{engine}.json"
    if not path.is_file():
        return {}
    table = json.loads(path.read_text("utf-8"))
    return {_version(version): _at(table, at) for at, version in enumerate(table["versions"])}


def _at(table: Mapping[str, object], at: int) -> Content:
    options, environment = table["options"], table["environment"]
    assert isinstance(options, dict)
    assert isinstance(environment, dict)
    return (
        {
            name: {key: value for key, value in row.items() if key not in ("from", "until")}
            for name, rows in options.items()
            for row in rows
            if row.get("from", 0) <= at <= row.get("until", at)
        },
        {name for name, spans in environment.items() if any(first <= at <= last for first, last in spans)},
    )


def _render(versions: Mapping[Version, Content]) -> str:
    """The table as JSON with one option a line; the same bytes on every run."""
    contents = list(versions.values())
    names = sorted({name for options, _ in contents for name in options})
    options = {name: list(_rows([options.get(name) for options, _ in contents])) for name in names}
    variables = sorted({name for _, known in contents for name in known})
    environment = {name: list(_spans([name in known for _, known in contents])) for name in variables}
    written = [".".join(map(str, version)) for version in versions]
    parts = [
        f'"versions": {json.dumps(written)}',
        f'"options": {_lines(options)}',
        f'"environment": {_lines(environment)}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(entries: Mapping[str, object]) -> str:
    if not entries:
        return "{}"
    return (
        "{\n"
        + ",\n".join(
            f" {json.dumps(key)}: {json.dumps(it, separators=(',', ':'))}" for key, it in entries.items()
        )
        + "\n}"
    )


def _rows(by_version: list[Row | None]) -> Iterator[Row]:
    """What an option accepts, with the first and the last version where that is not all of them."""
    start = 0
    for at in range(1, len(by_version) + 1):
        if at == len(by_version) or by_version[at] != by_version[start]:
            row = by_version[start]
            if row is not None:
                bounds = {"from": start} if start else {}
                yield {**bounds, **({"until": at - 1} if at < len(by_version) else {}), **row}
            start = at


def _spans(known: list[bool]) -> Iterator[tuple[int, int]]:
    rows = _rows([{} if it else None for it in known])
    for row in rows:
        yield int(str(row.get("from", 0))), int(str(row.get("until", len(known) - 1)))
