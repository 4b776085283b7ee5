"""Generates docs/codes.md, the list of all codes.

The codes are collected by :mod:`inferstack.check.every_code`.
"""

from collections.abc import Iterable, Iterator

from inferstack.check.every_code import TOPICS, every_code
from inferstack.problems.codes import RETIRED, Code
from tools.generated_files import ROOT, Contents, generated_by
from tools.markdown import cell, table

PAGE = ROOT / "docs" / "codes.md"

_TOP = f"""\
# Codes

{generated_by("codes")}

Every problem that inferstack reports has a code, and a code keeps its meaning forever. An error stops
synthesis. A warning does not; if it does not apply to your spec, turn it off there and say why:

```yaml
ignore:
  - {{code: IS270, reason: the container starts on this AMI}}
```

`inferstack explain CODE` prints a code's entry on this page and, if a spec can contain the mistake, an
example of wrong and right. On the website each code has a page of its own: `codes/IS270.html`.
"""
_RETIRED = f"""\
## Retired

Codes that earlier versions reported. None of them is used again: {", ".join(sorted(RETIRED))}
"""


def page(entries: Iterable[Code]) -> str:
    """The page, a section for each topic that has codes."""
    known = list(entries)
    sections = ["".join(_section(topic, title, known)) for topic, title in TOPICS.items()]
    return "\n".join([_TOP, *filter(None, sections), _RETIRED])


def _section(topic: str, title: str, entries: Iterable[Code]) -> Iterator[str]:
    rows = [_row(entry) for entry in entries if entry.code.startswith(topic)]
    if rows:
        yield f"## {topic}xx: {title}\n\n"
        yield table(("Code", "Severity", "Meaning", "Source"), rows)


def _row(entry: Code) -> tuple[str, ...]:
    source = cell(entry.source) if entry.source_url is None else f"[{_host(entry.source)}]({entry.source})"
    return (f'<a id="{entry.code.lower()}"></a>{entry.code}', entry.severity, cell(entry.sentence), source)


def _host(url: str) -> str:
    return url.split("/")[2]


def generate() -> Contents:
    return {PAGE: page(every_code().values())}
