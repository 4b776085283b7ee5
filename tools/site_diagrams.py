"""Shows the Mermaid diagrams of the pages on the site, without a network: GitHub draws them by itself.

The script is a file of the site, not a module: browsers load no modules for pages opened from a disk.
"""

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

_SCRIPT = Path(__file__).parents[1] / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
_START = """mermaid.initialize(matchMedia('(prefers-color-scheme: dark)').matches
  ? {theme: 'dark', themeVariables: {edgeLabelBackground: '#333'}} : {theme: 'default'})"""


class Diagram(nodes.General, nodes.Element):
    """A diagram, as Mermaid's text."""


class Mermaid(SphinxDirective):
    """The fence ```` ```mermaid ````."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Keeps the text as it is."""
        return [Diagram(text="\n".join(self.content))]


def _show(translator: HTML5Translator, node: Diagram) -> None:
    translator.body.append(translator.starttag(node, "pre", CLASS="mermaid"))
    translator.body.append(f"{translator.encode(node['text'])}</pre>")
    raise nodes.SkipNode


def _add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], tree: nodes.document
) -> None:
    if tree is not None and any(tree.findall(Diagram)):
        app.add_js_file(_SCRIPT.name)
        app.add_js_file(None, body=_START)


def _copy_script(app: Sphinx, failure: Exception | None) -> None:
    if failure is None:
        shutil.copy(_SCRIPT, app.outdir / "_static")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the fence and the script with Sphinx."""
    app.add_node(Diagram, html=(_show, None))
    app.add_directive("mermaid", Mermaid)
    app.connect("html-page-context", _add_script)
    app.connect("build-finished", _copy_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
