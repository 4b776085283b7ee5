"""What a project installs: the packages of this environment that inferstack needs, at their versions."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

_US = "inferstack"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_OF_EXTRA = re.compile(r";.*\bextra\s*==\s*['\"]([\w-]+)")
_HEADER = "# The versions that `inferstack init` found; pip-tools and uv can write this file, too.\n"
_FROM_THIS_MACHINE = """\
# inferstack itself came from this machine. Say where CI can install it from, too, for example:
# inferstack @ git+https://git.example.com/inferstack@COMMIT
"""


def requirements(extra: str | None = None) -> str:
    """The text of requirements.txt, for inferstack with one of its extras or without.

    Packages that only other extras need are left out, and so are those that are not installed: they are for
    other platforms or versions of Python.
    """
    packages: dict[str, Distribution] = {}
    _collect(_US, packages, extra)
    ours = packages.pop(_US, None)
    pins = sorted(f"{name}=={one.version}\n" for name, one in packages.items())
    return "".join((_HEADER, _FROM_THIS_MACHINE if ours is None else _source(ours, extra), *pins))


def _collect(name: str, found: dict[str, Distribution], extra: str | None = None) -> None:
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return
    found[name] = one
    for needed in _needed(one, extra):
        if needed not in found:
            _collect(needed, found)


def _needed(one: Distribution, extra: str | None) -> Iterator[str]:
    for requirement in one.requires or ():
        name = _NAME.match(requirement)
        of_extra = _OF_EXTRA.search(requirement)
        if name is not None and (of_extra is None or of_extra[1] == extra):
            # https://packaging.python.org/en/latest/specifications/name-normalization/
            yield re.sub(r"[-_.]+", "-", name[0]).lower()


def _source(ours: Distribution, extra: str | None) -> str:
    """The line for inferstack itself, by where it came from.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    name = _US if extra is None else f"{_US}[{extra}]"
    written = ours.read_text("direct_url.json")
    if written is None:
        return f"{name}=={ours.version}\n"
    came: dict[str, Any] = json.loads(written)
    url = str(came["url"])
    if (vcs := came.get("vcs_info")) is not None:
        return f"{name} @ {vcs['vcs']}+{url}@{vcs['commit_id']}\n"
    return f"{_FROM_THIS_MACHINE if url.startswith('file:') else ''}{name} @ {url}\n"
