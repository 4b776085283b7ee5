"""How Sphinx makes the site from these pages: ``make site``."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The extensions of the site are modules of `tools`.
sys.path.insert(0, str(ROOT))

project = "inferstack"
html_title = project
html_theme = "furo"
root_doc = "index"
exclude_patterns = ["examples", "pipelines/*/**"]

extensions = [
    *("myst_parser", "sphinx_copybutton"),
    *("tools.site_links", "tools.site_diagrams", "tools.site_codes"),
]

# Headings have the anchors that GitHub gives them, so a link leads to the same place in both.
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
nitpicky = True

# A page shows commands with a prompt, and their output: the button copies the commands.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "END"

html_static_path = ["site", "../node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("site") / "search.js")
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"
pygments_dark_style = "github-dark"
