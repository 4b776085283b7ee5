"""Texts that try to be markup, and what reads them: parsers of Markdown, and a model of GitHub's runner."""

import re
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options
from hypothesis import strategies as st
from markdown_it import MarkdownIt

# What Markdown, GitHub, GitLab, Azure or a terminal would act upon, and what may help it to get there.
MARKS = r"""
    ` `` ``` `````` | || \\ \\\\ \\| \\` * ** _ __ ~ ~~ # ## ### > < <! <!-- --> & &amp; &#64; [ ] ( ) ! ![
    [a](b) ![a](b) [a]: [^1] [x] @ @me @all a@b.org http:// https://a.org www.a.org ftp:// s3:// mailto:a@b.org
    :// :: ::error:: :: add-mask ##[ ##[error] ##vso[ ##vso[task.complete] #1 !1 $1 %1 &1 ^1 ~bug ~"a" %"v1" GH-12
    a/b#1 /close - + = === --- 1. 1) <b> </b> <img> </code> <code> <script> <a.org> <a@b.org> javascript: :smile:
    [issue:1] *iteration:1 0 a . , ; : " ' / é
"""
INVISIBLE = [" ", "    ", "\t", "\r", "\n", "\x85", "\x1b[31m", "\x07", "\u202e", "\u200b", "\udcff"]
TEXTS = st.lists(
    st.one_of(st.sampled_from([*MARKS.split(), *INVISIBLE]), st.text(max_size=3)),
    max_size=14,
).map("".join)

# What GitHub and GitLab look for in the text of a page that they have made of Markdown.
LIVE = re.compile(r"@\w|[#!$%&^~]\d|~\w|[~%]\"[^\"]+\"|://\w|www\.\w|mailto:|(?i:\bgh-\d)|\[\w+:\d")


_VOID = {"br", "img", "input", "hr"}


class Page(HTMLParser):
    """The tags of a page, and its text outside of code and in it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[object] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.all = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self.attributes += list(attrs)  # type: ignore[call-overload]
        if tag not in _VOID:
            self.open.append(tag)
        self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_decl(self, decl: str) -> None:
        self.tags.append("!")

    def handle_data(self, data: str) -> None:
        self.all += data
        if "code" not in self.open:
            self.texts.append(self.texts.pop() + data if self.texts else data)


def by_github(text: str) -> str:
    """GitHub's own parser, which leaves out no HTML here."""
    extensions = ["table", "autolink", "strikethrough", "tasklist"]
    made: str = cmarkgfm.markdown_to_html_with_extensions(text, Options.CMARK_OPT_UNSAFE, extensions)
    return made


def by_markdown_it(text: str) -> str:
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": True})
    # Without the addresses that have neither a scheme nor `www`: `model.py` would be one.
    parser.linkify.set({"fuzzy_link": False})  # type: ignore[union-attr]
    made: str = parser.render(text)
    return made


def command_in(line: str) -> bool:
    """Whether GitHub's runner, or Azure's agent, obeys a line of a log.

    https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
    """
    return line.lstrip().startswith("::") or "##[" in line or "##vso[" in line
