"""The review as a page for a browser: one file that loads nothing.

page.py            what is on it, and that nothing of a spec is more than text there
boxes.py, bars.py  its pictures, in pixels
source_links.py    where a line of a spec is on the web
templates/         what jinja2 makes of it: HTML, SVG, style and script
"""

from inferstack.cli.review.html.page import as_html
from inferstack.cli.review.html.source_links import SourceUrl, source_url

__all__ = ["SourceUrl", "as_html", "source_url"]
