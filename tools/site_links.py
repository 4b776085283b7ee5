"""Lets the pages of docs/ be a site, too: links to files of the repository, and anchors written as HTML.

On GitHub a page's link to a spec, a program or a folder shows that file. The site has only pages, so such a
link leads to the repository on the web, whose files are at ``REPOSITORY_FILES``, such as
``https://git.example.com/inferstack/blob/main``; without it, to the clone that the site is made in.
A link whose text is the name of a page's file, ``[review.md](review.md)``, shows the page's title instead.
MyST has no settings for these: it offers such files for download, finds no folders, and knows anchors of
headings only; it shows a title for a link without text, of which GitHub shows nothing.
"""

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).parents[1]
_ANCHOR = re.compile(r'<a id="([^"]+)">')


class FileLinks(SphinxTransform):
    """Turns links to files and folders beside the pages into links to the repository."""

    # Before Sphinx collects the files that a reader could download.
    default_priority = 10

    def apply(self) -> None:
        """Visits every link that is not to another site."""
        downloads = self.document.findall(addnodes.download_reference)
        unresolved = self.document.findall(addnodes.pending_xref)
        for link in [*downloads, *unresolved]:
            if (file := self._file(link)) is not None:
                link.replace_self(nodes.reference("", "", *link.children, refuri=self._address(file)))

    def _file(self, link: nodes.Element) -> Path | None:
        """What the link leads to, unless that is a page of the site, a heading, or nothing."""
        if link["refdomain"] == "doc":
            # A page that is not below the folder of the pages has its path as its name.
            outside = Path(link["reftarget"]).is_absolute()
            return Path(f"{link['reftarget']}.md") if outside else None
        file = Path(self.env.relfn2path(link["reftarget"])[1]).resolve()
        return file if file.exists() else None

    def _address(self, file: Path) -> str:
        if repository := self.config.repository_files:
            return f"{repository}/{file.relative_to(ROOT).as_posix()}"
        page = Path(self.env.app.outdir) / self.env.current_document.docname
        return Path(os.path.relpath(file, page.parent)).as_posix()


class Titles(SphinxTransform):
    """Lets links that show the name of a page's file show its title: readers of the site see no files."""

    default_priority = 15

    def apply(self) -> None:
        """Visits every link to a page of the site."""
        for link in self.document.findall(addnodes.pending_xref):
            if link["refdomain"] == "doc" and link.astext() == f"{Path(link['reftarget']).name}.md":
                link["refexplicit"] = False


class Anchors(SphinxTransform):
    """Turns ``<a id="…">`` into places that links lead to, and that the build finds missing."""

    # Before MyST looks for the headings that links of the same page name.
    default_priority = 20

    def apply(self) -> None:
        """Visits all HTML of the page."""
        slugs = self.env.metadata[self.env.current_document.docname].setdefault("myst_slugs", {})
        for node in list(self.document.findall(nodes.raw)):
            if found := _ANCHOR.fullmatch(node.astext()):
                node.replace_self(nodes.target("", "", ids=[found[1]]))
                slugs[found[1]] = (node.line or 0, found[1], found[1])
            elif node.astext() == "</a>":
                node.parent.remove(node)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the transforms with Sphinx."""
    app.add_config_value("repository_files", os.environ.get("REPOSITORY_FILES", ""), "env")
    app.add_transform(FileLinks)
    app.add_transform(Titles)
    app.add_transform(Anchors)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
