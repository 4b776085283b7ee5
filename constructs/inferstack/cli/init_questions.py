"""What ``inferstack init`` asks on a terminal."""

import argparse
import sys
import textwrap
from collections.abc import Callable, Mapping

from inferstack.catalog import regions
from inferstack.cli.terminal import Refusal, tell
from inferstack.problems import printable
from inferstack.problems.words import choose, did_you_mean
from inferstack.project.answers import CI_SYSTEMS, KIND_NAMES, Answers, sentence, usual

_WIDTH = 80


def answers_to(options: argparse.Namespace, before: Answers | None) -> Answers:
    """The answers: given by options, else as before, else asked for; or the usual ones with ``--yes``."""
    default = usual() if before is None else before
    given = {key: getattr(options, key) for key in ("kind", "region", "ci")}
    if given["region"] is not None and not regions.is_region(given["region"]):
        options.wrong_usage(_no_region(given["region"]))
    if before is None and not options.yes and None in given.values():
        if not _on_a_terminal():
            missing = " ".join(f"--{key}" for key, value in given.items() if value is None)
            options.wrong_usage(f"there is no terminal to ask on: give {missing}, or --yes for the defaults")
        asks: dict[str, Callable[[str], str]] = {"kind": _kind, "region": _region, "ci": _ci}
        given = {
            key: ask(getattr(default, key)) if given[key] is None else given[key] for key, ask in asks.items()
        }
    return Answers(**{key: getattr(default, key) if it is None else it for key, it in given.items()})


def _on_a_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _kind(default: str) -> str:
    return _one_of("What does the endpoint host?", {name: sentence(name) for name in KIND_NAMES}, default)


def _ci(default: str) -> str:
    return _one_of("What reviews and deploys?", CI_SYSTEMS, default)


def _region(default: str) -> str:
    while not regions.is_region(answer := _ask("Region", default)):
        tell(printable(_no_region(answer)))
    return answer


def _no_region(name: str) -> str:
    """A newer one than those known would do, but then the files are easily changed; a slip is likelier."""
    return f"there is no region {name}; " + did_you_mean(name, regions.names(), "write one like us-east-1")


def _one_of(question: str, options: Mapping[str, str], default: str) -> str:
    """One of some options, by its name or number."""
    tell(question)
    for number, (name, means) in enumerate(options.items(), 1):
        tell(textwrap.fill(f"  {number}  {name}: {means}", _WIDTH, subsequent_indent=" " * 5))
    numbers = dict(zip(map(str, range(1, len(options) + 1)), options, strict=True))
    while True:
        answer = _ask("Name or number", default)
        answer = numbers.get(answer, answer)
        if answer in options:
            return answer
        tell(printable(f"there is no {answer}; {choose(answer, list(options))}"))


def _ask(what: str, default: str) -> str:
    """One line; the default if it is empty."""
    sys.stderr.write(f"{what} [{default}]: ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        tell("")
        raise Refusal("no answer; nothing was written")
    return line.strip() or default
