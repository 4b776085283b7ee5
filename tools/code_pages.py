"""The page of each code on the website: what docs/codes.md says of it, why, examples, and what to do.

They are Markdown as if they stood in docs/codes. Nobody reviews five hundred files, so there are none:
:mod:`tools.site_codes` hands these texts to Sphinx.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from inferstack.check.every_code import BOTH, RIGHT, TOPICS, WRONG, every_code, examples
from inferstack.check.ignore import may_be_ignored
from inferstack.format.kinds import InferenceComponentsSpec, MultiModelSpec, PipelineSpec
from inferstack.problems import Severity
from inferstack.problems.codes import Code
from inferstack.problems.rules import Rule
from inferstack.triton.model import TritonModel
from tools.generated_files import ROOT
from tools.markdown import cell, table

DOCS = ROOT / "docs"
MESSAGES = ROOT / "tests" / "check" / "messages.txt"
_MOST_MESSAGES = 3
_NEIGHBORS = 2
"""Before a code, and after it."""

_ABOUT: dict[type[Any], str] = {
    MultiModelSpec: "Only specs with [`kind: multi-model`](../spec.md#multimodelspec) can have it.",
    PipelineSpec: "Only specs with [`kind: pipeline`](../spec.md#pipelinespec) can have it.",
    InferenceComponentsSpec: (
        "Only specs with [`kind: inference-components`](../spec.md#inferencecomponentsspec) can have it."
    ),
    TritonModel: "It is about a model in a [Triton repository](../triton.md).",
}
_SEVERITIES = {
    Severity.ERROR: "**Error**: it stops synthesis.",
    Severity.WARNING: "**Warning**: it does not stop synthesis.",
    Severity.INFO: "**Info**: it is a remark and does not stop synthesis.",
}
_WITHOUT_OPINION = ("codes.md", "index.md", "spec.md")
"""Pages that name codes in passing, or all of them."""


def page(code: str) -> str:
    """The page of a code, as Markdown."""
    entry = every_code()[code]
    parts = (_top(entry), _messages(code), _example(code), _ignoring(entry), _source(entry), _neighbors(code))
    return "\n\n".join(it for part in parts for it in part) + "\n"


def _top(entry: Code) -> Iterator[str]:
    # The sidebar lists the pages of docs/ only.
    yield "---\norphan: true\n---"
    first, _, others = entry.sentence.partition(". ")
    # Search results and tabs show the heading.
    yield f"# {entry.code}: {first.removesuffix('.')}"
    yield _SEVERITIES[entry.severity]
    yield from filter(None, (others, *why(entry)))
    if isinstance(entry, Rule) and entry.applies_to in _ABOUT:
        yield _ABOUT[entry.applies_to]


def why(entry: Code) -> list[str]:
    """The paragraphs that follow the sentence in a rule's docstring. Codes without a rule have none."""
    if not isinstance(entry, Rule):
        return []
    sentence, *others = inspect.cleandoc(entry.check.__doc__ or "").split("\n\n")
    # A row of a table of rules has the docstring of the table's class.
    if " ".join(sentence.split()) != entry.sentence:
        return []
    return [re.sub(r"(https://[^\s)]*[^\s).,:])", r"<\1>", it) for it in others]


# ---------------------------------------------------------------- examples


def _messages(code: str) -> Iterator[str]:
    if found := _said().get(code):
        shown = sorted(found, key=len)[:_MOST_MESSAGES]
        yield "## What it says"
        yield "Where, what was found, and the fix; for example:"
        yield "\n".join(("```text", "\n\n".join(shown), "```"))


@cache
def _said() -> dict[str, list[str]]:
    """The messages that the rules' tests get, by code."""
    messages: defaultdict[str, list[str]] = defaultdict(list)
    for line in MESSAGES.read_text("utf-8").splitlines():
        code, _, message = line.partition(" ")
        # Without a path it is about the whole spec.
        messages[code].append(message.removeprefix(": "))
    return dict(messages)


def _example(code: str) -> Iterator[str]:
    if (example := examples().get(code)) is None:
        return
    yield "## Example"
    yield f"Wrong: {example.title}"
    yield _block(example.lines, WRONG)
    if any(line[0] == RIGHT for line in example.lines):
        yield "Right"
        yield _block(example.lines, RIGHT)


def _block(lines: Sequence[str], side: str) -> str:
    """One side of an example; the lines that the other lacks are marked."""
    shown = [line for line in lines if line[0] in (side, BOTH)]
    marked = ",".join(str(number) for number, line in enumerate(shown, 1) if line[0] == side)
    # What is wrong may not even be YAML.
    options = [":force:", *([f":emphasize-lines: {marked}"] if marked else [])]
    return "\n".join(("```{code-block} yaml", *options, "", *(line[1:] for line in shown), "```"))


# ---------------------------------------------------------------- what to do, and where to read on


def _ignoring(entry: Code) -> Iterator[str]:
    yield "## Turning it off"
    if may_be_ignored(entry.code):
        yield "Where it does not apply, say so in the spec, and why:"
        yield f"```yaml\nignore:\n  - {{code: {entry.code}, reason: …}}\n```"
    elif entry.severity is Severity.ERROR:
        yield "No spec can ignore an error."
    else:
        yield "This warning is not about what a spec says, so no spec can ignore it."


def _source(entry: Code) -> Iterator[str]:
    yield "## Source"
    yield entry.source if entry.source_url is None else f"<{entry.source_url}>"
    if pages := _pages_about(entry.code):
        yield "On this site: " + ", ".join(pages)


def _pages_about(code: str) -> list[str]:
    """Links to the pages that mention a code."""
    return [f"[{title}](../{path})" for path, title, codes in _pages() if code in codes]


@cache
def _pages() -> list[tuple[str, str, frozenset[str]]]:
    """Path, title and mentioned codes of each page."""
    pages = []
    for file in sorted(DOCS.rglob("*.md")):
        path, text = file.relative_to(DOCS).as_posix(), file.read_text("utf-8")
        if path not in _WITHOUT_OPINION:
            pages.append(
                (path, text.removeprefix("# ").split("\n")[0], frozenset(re.findall(r"IS\d{3}", text)))
            )
    return pages


def _neighbors(code: str) -> Iterator[str]:
    topic = code[:3]
    codes = [it for it in every_code() if it.startswith(topic)]
    at = codes.index(code)
    near = [*codes[max(0, at - _NEIGHBORS) : at], *codes[at + 1 : at + 1 + _NEIGHBORS]]
    yield "## Neighbors"
    if near:
        rows = [(f"[{it}](../codes.md#{it.lower()})", cell(every_code()[it].sentence)) for it in near]
        # Else a search for words of one code finds five.
        yield f"```{{container}} no-search\n{table(('Code', 'Meaning'), rows)}```"
    title = f"{topic}xx: {TOPICS[topic]}"
    yield f"All of [{title}](../codes.md#{_anchor(title)})"


def _anchor(heading: str) -> str:
    """As GitHub and MyST make it from a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
