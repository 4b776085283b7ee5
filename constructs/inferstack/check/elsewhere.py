"""Values that exist elsewhere: where they may stand, and what is wrong with those in a document."""

from collections.abc import Iterator

import msgspec

from inferstack.check.references import is_in_triton
from inferstack.format.elsewhere import LISTS, TEXTS, may_be_elsewhere
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import CodeTable
from inferstack.source.document import Document
from inferstack.source.tree import Entry, Node, list_node, mapping_node
from inferstack.texts.elsewhere import Elsewhere, as_list, elsewhere_in, faults, only_elsewhere
from inferstack.texts.placeholders import SOURCES

_AWS = "https://docs.aws.amazon.com/AWSCloudFormation/latest"
_EXPORTS = f"{_AWS}/UserGuide/using-cfn-stack-exports.html"
ELSEWHERE_CODES = CodeTable()

NO_NAME = ELSEWHERE_CODES.error(
    "IS122",
    "An `${import:…}`, `${ssm:…}` or `${parameter:…}` does not have the form of such a name.",
    _EXPORTS,
)
NEEDED_SOONER = ELSEWHERE_CODES.error(
    "IS132",
    "A value that only the deployment knows is used where it is needed earlier, or where "
    "CloudFormation fills in nothing.",
)
_MARKS = tuple(f"${{{source}:" for source in SOURCES)


# ---------------------------------------------------------------- a list that comes from elsewhere as a whole


def with_lists(document: Document) -> Document:
    """The document with a list in place of each text that stands for a whole one.

    Everything else then has to know only one form: a list with a single entry, as CDK's list tokens are.
    """
    found = {path for path, text in document.texts_with("${") if _is_list(path) and only_elsewhere(text)}
    if not found:
        return document
    return msgspec.structs.replace(document, tree=_rebuilt(document.tree, (), found))


def _is_list(path: SpecPath) -> bool:
    # In the template, an alarm's list begins with the scaling policy.
    return path[-1] in LISTS and may_be_elsewhere(path) and "step_policies" not in path


def _rebuilt(node: Node, path: SpecPath, lists: set[SpecPath]) -> Node:
    if path in lists:
        return list_node(node.at, [Entry(node.at, Node(node.at, as_list(node.data)))])
    if not any(it[: len(path)] == path for it in lists):
        return node
    match node.entries:
        case dict() as entries:
            below = {key: Entry(at, _rebuilt(it, (*path, key), lists)) for key, (at, it) in entries.items()}
            return mapping_node(node.at, below)
        case list() as entries:
            return list_node(
                node.at, [Entry(at, _rebuilt(it, (*path, i), lists)) for i, (at, it) in enumerate(entries)]
            )
        case _:
            return node


# ---------------------------------------------------------------- what is wrong


def elsewhere_problems(document: Document) -> Iterator[Problem]:
    """Everything wrong with the values from elsewhere in a document, in which each list is one already."""
    for path, text in document.texts_with("{"):
        if not text.startswith("#") and not any(mark in text for mark in _MARKS):
            continue
        wrong = [document.problem(path, NO_NAME, *said) for said in faults(text)]
        used = list(elsewhere_in(text))
        yield from wrong
        if used and not wrong and (is_in_triton(path) or not may_be_elsewhere(path)):
            yield _too_late(document, path, used[0])


def _too_late(document: Document, path: SpecPath, used: Elsewhere) -> Problem:
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    message = f"`{used.written}` is known only at deployment, but `{key}` is needed before that"
    allowed = f"{', '.join(list(TEXTS)[:-1])} and {list(TEXTS)[-1]}"
    fix = f"write the value itself: only {allowed} can come from elsewhere"
    return document.problem(path, NEEDED_SOONER, message, fix)
