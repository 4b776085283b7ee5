"""Text that quotes a spec, as each format of a report takes it: what a spec says must never be a command, a
link or a heading there.

There is one function for each format. For a terminal, and for a log that a CI system reads, it is
:func:`inferstack.problems.printable`.
"""

import json
import re

from inferstack.problems import on_one_line

# ---------------------------------------------------------------- Markdown, as GitHub and GitLab show it

_SPECIAL = re.compile(r"[\\*_\[\]<>&#~]")
# A backslash before these could itself be escaped by one that comes before it.
_ENTITIES = {"|": "&#124;", "`": "&#96;"}
# Both look for names, numbers and addresses in the text that Markdown has become, so that no backslash keeps
# them from making links of it. They leave code alone.
# https://docs.gitlab.com/user/markdown/#gitlab-specific-references
# https://github.github.com/gfm/#autolinks-extension-
_PIECE = re.compile(r"""[%~]"[^"]*"|(?:(?![%~]")[^\s"'(),;<>])+|.""", re.DOTALL)
_LIVE = re.compile(r"""@[\w.-]|[#!$%&^~][\w"]|\[\w+:|://|(?i:www\.|mailto:|xmpp:|\bgh-\d)""")
# What would begin a list, the underline of a heading, or indented code at the start of a line.
_START = re.compile(r"^(?=\s|[-+=]([\s=-]|$)|\d+[.)])")
_NOTHING = "&#8203;"
# There is no way to escape these in a code span.
_NOT_IN_A_SPAN = ("`", "|")


def markdown(said: str) -> str:
    """Text on one line that appears literally, except for code in backticks; it also fits into a table's
    cell.
    """
    shown = on_one_line(said)
    parts = shown.split("`")
    if len(parts) % 2 == 0 or "``" in shown:
        # It is unclear which backticks enclose code: their number is odd, or several in a row count as one.
        parts = [shown]
    found = "".join(_span(part) if index % 2 else _plain(part) for index, part in enumerate(parts))
    # Two code spans side by side would be none.
    return _START.sub(_NOTHING, found.replace("``", f"`{_NOTHING}`"))


def code(said: str) -> str:
    """The whole text as code on one line, whatever is in it."""
    return _span(on_one_line(said))


def _span(shown: str) -> str:
    """A code span, or HTML that looks like one where the text cannot be in a span."""
    if any(mark in shown for mark in _NOT_IN_A_SPAN) or shown != shown.strip() or not shown:
        return f"<code>{''.join(map(_entity, shown))}</code>"
    return f"`{shown}`"


def _entity(char: str) -> str:
    if char == "@":
        # GitHub looks for mail addresses even in HTML's own code.
        return f"&#64;{_NOTHING}"
    return char if char.isalnum() else f"&#{ord(char)};"


def _plain(shown: str) -> str:
    """The text with the words as code that would be links."""
    return "".join(_span(it) if _LIVE.search(it) else _literally(it) for it in _PIECE.findall(shown))


def _literally(said: str) -> str:
    escaped = _SPECIAL.sub(r"\\\g<0>", said)
    return "".join(_ENTITIES.get(char, char) for char in escaped)


def html_code(said: str) -> str:
    """The whole text as code on one line, where Markdown is not read: inside of HTML such as `<summary>`."""
    return f"<code>{''.join(map(_entity, on_one_line(said)))}</code>"


# ---------------------------------------------------------------- Mermaid's diagrams in Markdown
#
# https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters

_PLAIN_IN_MERMAID = re.compile(r"[^A-Za-z0-9 .,:+/-]")


def mermaid(said: str) -> str:
    """Text as the label of a node, without its quotes. Nothing in it can end the label, or the block."""
    return _PLAIN_IN_MERMAID.sub(lambda found: f"#{ord(found[0])};", on_one_line(said))


# ---------------------------------------------------------------- GitHub's workflow commands
#
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands


def workflow_data(said: str) -> str:
    """Text as a command's message."""
    # The log shows an annotation's text as it is, so control characters are escaped; line breaks may stay.
    shown = "".join(part if part in "\r\n" else on_one_line(part) for part in re.split(r"([\r\n])", said))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def workflow_property(said: str) -> str:
    """Text as the value of one of a command's properties."""
    return workflow_data(said).replace(":", "%3A").replace(",", "%2C")


# ---------------------------------------------------------------- JSON


def json_text(value: object) -> str:
    """The value as JSON in which a log finds no command: it would take one out of any line."""
    return json.dumps(value, indent=1).replace("##", r"#\u0023")
