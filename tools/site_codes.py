"""Gives each code a page of its own on the site, ``codes/IS104.html``, and links whatever mentions it there.

The pages are no files: Sphinx gets their text from :mod:`tools.code_pages`. On GitHub the same links lead to
the list of codes, docs/codes.md. Sphinx itself cannot read a page that is no file, so other extensions write
their pages beside ours, where tests and reviewers would meet them; nor can it link words without markup.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.project import Project
from sphinx.transforms import SphinxTransform
from sphinx.util._pathlib import _StrPath
from sphinx.util.typing import ExtensionMetadata

from inferstack.check.every_code import every_code
from tools import code_pages

LIST = "codes"
"""The page that lists all codes. Without it, a site has no pages of codes."""
_FOLDER = f"{LIST}/"
_CODE = re.compile(r"\b(IS\d{3})\b")


class Pages(Project):
    """The files below docs/, and a page for each code."""

    def discover(self, exclude_paths: Iterable[str] = (), include_paths: Iterable[str] = ("**",)) -> set[str]:
        """Adds the pages that are no files."""
        found = super().discover(exclude_paths, include_paths)
        if LIST in found:
            found.update(f"{_FOLDER}{code}" for code in every_code())
        return found

    def doc2path(self, docname: str, absolute: bool) -> _StrPath:
        """Where a page is; what is read for a code's page is the list, until its own text replaces that."""
        return super().doc2path(LIST if absolute and docname.startswith(_FOLDER) else docname, absolute)


class CodeLinks(SphinxTransform):
    """Links codes to their pages: what links to a line of the list, and what only mentions a code."""

    # After the anchors of the list are places that links lead to.
    default_priority = 30

    def apply(self) -> None:
        """Visits all links, and then all text outside of links."""
        if LIST not in self.env.found_docs:
            return
        for link in self.document.findall(addnodes.pending_xref):
            code = str(link.get("reftargetid")).upper()
            if link.get("reftarget") == LIST and _CODE.fullmatch(code):
                link["reftarget"], link["reftargetid"] = f"{_FOLDER}{code}", None
        for text in [it for it in self.document.findall(nodes.Text) if _is_plain(it)]:
            if _CODE.search(text):
                text.parent.replace(text, [*self._linked(text)])

    def _linked(self, text: nodes.Text) -> Iterator[nodes.Node]:
        page = self.env.current_document.docname
        for part in _CODE.split(text):
            target = f"{_FOLDER}{part}"
            if part not in every_code() or target == page:
                yield nodes.Text(part)
                continue
            inner = nodes.inline("", part, classes=["xref", "myst"])
            yield addnodes.pending_xref(
                "",
                inner,
                refdomain="doc",
                reftype="myst",
                reftarget=target,
                reftargetid=None,
                refdoc=page,
                refexplicit=True,
            )


def _is_plain(text: nodes.Text) -> bool:
    """Whether a text is part of neither a link nor code nor a heading."""
    others = (nodes.reference, addnodes.pending_xref, nodes.literal, nodes.literal_block, nodes.title)
    node = text.parent
    while node is not None and not isinstance(node, (*others, nodes.raw, nodes.comment)):
        node = node.parent
    return node is None


def _add_pages(app: Sphinx) -> None:
    app.project = app.env.project = Pages(app.srcdir, app.config.source_suffix)


def _write_page(app: Sphinx, page: str, content: list[str]) -> None:
    if page.startswith(_FOLDER):
        content[0] = code_pages.page(page.removeprefix(_FOLDER))


class _Sidebar:
    """The same for all pages of codes, none of which is in it: to make it takes half of a page's time."""

    def __init__(self) -> None:
        self._made: str | None = None

    def share(self, app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
        """Lets the theme have what the first page got."""
        make = context["toctree"]

        def shared(**options: object) -> str:
            if self._made is None:
                self._made = make(**options)
            return self._made

        if page.startswith(_FOLDER):
            context["toctree"] = shared


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the pages and the links with Sphinx."""
    # Before the theme asks for it.
    app.connect("html-page-context", _Sidebar().share, priority=400)
    app.connect("builder-inited", _add_pages)
    app.connect("source-read", _write_page)
    app.add_transform(CodeLinks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
