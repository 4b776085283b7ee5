"""Shows the Mermaid diagrams of the pages on the site, without a network: GitHub draws them by itself.

Sphinx knows no diagrams. The usual extension, sphinxcontrib-mermaid, loads its script as a module, and
browsers load no modules for pages opened from a disk. So docs/conf.py makes the script a file of the site.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

_SCRIPT = "mermaid.tiny.js"
_START = """mermaid.initialize(matchMedia('(prefers-color-scheme: dark)').matches
  ? {theme: 'dark', themeVariables: {edgeLabelBackground: '#333'}} : {theme: 'default'})"""


class Mermaid(SphinxDirective):
    """The fence ```` ```mermaid ````."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Keeps the text as it is: Sphinx highlights only blocks whose text is all of their source."""
        text = "\n".join(self.content)
        return [nodes.literal_block(f"```mermaid\n{text}\n```", text, classes=["mermaid"])]


def _add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], tree: nodes.document
) -> None:
    """Adds a megabyte of script, where there is a diagram only."""
    if tree is not None and any("mermaid" in it["classes"] for it in tree.findall(nodes.literal_block)):
        app.add_js_file(_SCRIPT)
        app.add_js_file(None, body=_START)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the fence and the script with Sphinx."""
    app.add_directive("mermaid", Mermaid)
    app.connect("html-page-context", _add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
