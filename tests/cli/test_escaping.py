"""Reports quote specs. Real parsers of Markdown, and a model of GitHub's runner, find no command in them."""

import json
import re
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from inferstack.cli import escaping
from inferstack.cli.report import Findings, in_format
from inferstack.problems import FilePlace, Problem, Severity, on_one_line

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

OURS = {"h3", "ul", "li", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code"}
# What GitHub and GitLab look for in the text of a page that they have made of Markdown.
LIVE = re.compile(r"@\w|[#!$%&^~]\d|~\w|[~%]\"[^\"]+\"|://\w|www\.\w|mailto:|(?i:\bgh-\d)|\[\w+:\d")


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


PARSERS = pytest.mark.parametrize("parser", [by_github, by_markdown_it])


def visible(text: str) -> str:
    """What is left of a text when spaces, which Markdown joins, and what has no width are taken out."""
    return re.sub(r"[\s\u200b]+", "", text)


@PARSERS
@settings(max_examples=600, deadline=None)
@given(file=TEXTS, message=TEXTS, fix=TEXTS, note=TEXTS)
def test_a_comment_has_no_markup_but_ours(
    parser: object, file: str, message: str, fix: str, note: str
) -> None:
    problem = Problem(FilePlace(file), message, fix, "IS101")
    made = in_format("markdown", Findings([problem], 1, [note]))
    assert not [line for line in made.splitlines() if line.startswith("/")], "a quick action of GitLab"
    assert "##[" not in made
    assert "##vso[" not in made
    page = Page(parser(made))  # type: ignore[operator]
    assert set(page.tags) <= OURS
    assert page.attributes == []
    assert page.open == []
    assert [page.tags.count(tag) for tag in ("h3", "ul", "li", "table", "tr", "td")] == [1, 1, 1, 1, 2, 3]
    assert not [text for text in page.texts if LIVE.search(text)]


@PARSERS
@settings(max_examples=600, deadline=None)
@given(said=TEXTS.filter(lambda it: "`" not in it))
def test_text_appears_as_it_is(parser: object, said: str) -> None:
    for escaped in (escaping.markdown, escaping.code):
        page = Page(parser(f"| a |\n| --- |\n| {escaped(said)} |"))  # type: ignore[operator]
        assert visible(page.all) == "a" + visible(on_one_line(said))


@settings(max_examples=300, deadline=None)
@given(file=TEXTS)
def test_a_name_of_a_file_stays_in_its_code(file: str) -> None:
    page = Page(by_github(f"- {escaping.code(file)} and"))
    assert visible("".join(page.texts)) == "and"
    assert visible(page.all) == visible(on_one_line(file)) + "and"


def test_what_is_ordinary_is_easy_to_read_unrendered() -> None:
    said = 'unknown key `instance_typ` in `variant`; "s3://acme-models/x" is for @ops | 5 % of 12'
    assert escaping.markdown(said) == (
        'unknown key `instance_typ` in `variant`; "`s3://acme-models/x`" is for `@ops` &#124; 5 % of 12'
    )


# ---------------------------------------------------------------- logs of CI systems


def command_in(line: str) -> bool:
    """Whether GitHub's runner, or Azure's agent, obeys a line of a log.

    https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
    """
    return line.lstrip().startswith("::") or "##[" in line or "##vso[" in line


@settings(max_examples=400, deadline=None)
@given(file=TEXTS, message=TEXTS)
@pytest.mark.parametrize("form", ["text", "json", "gitlab", "sarif", "markdown"])
def test_no_line_of_a_report_is_a_command(form: str, file: str, message: str) -> None:
    found = Findings([Problem(FilePlace(file), message, "", "IS101")], 1, [message])
    printed = in_format(form, found)
    assert not [line for line in re.split("[\r\n]", printed) if command_in(line)]


@settings(max_examples=400, deadline=None)
@given(file=TEXTS, message=TEXTS, severity=st.sampled_from(Severity))
def test_an_annotation_is_one_command_and_no_other(file: str, message: str, severity: Severity) -> None:
    problem = Problem(FilePlace(file), message, "", "IS101", severity)
    printed = in_format("github", Findings([problem], 1))
    [line] = printed.removesuffix("\n").splitlines()
    assert re.fullmatch(rf"::{severity} file=[^:,\s]*( [^:,]*)*,line=1,col=1,title=IS101::.*", line)
    assert not command_in(line.removeprefix(f"::{severity}"))


@pytest.mark.parametrize("name", ["::a.yaml", " ::a.yaml", "model_specs/a.yaml"])
def test_an_annotation_names_the_file_as_it_is_called(name: str) -> None:
    printed = in_format("github", Findings([Problem(FilePlace(name), "", "", "IS101")], 1))
    assert printed.split(",line")[0].replace("%3A", ":") == f"::error file={name}"


@given(said=TEXTS)
def test_json_means_what_it_meant(said: str) -> None:
    written = escaping.json_text(json.dumps({said: [said]}))
    assert json.loads(written) == {said: [said]}
    assert "##" not in written
