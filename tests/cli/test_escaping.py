"""Reports quote specs. Real parsers of Markdown, and a model of GitHub's runner, find no command in them."""

import json
import re
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st
from support.hostile import LIVE, TEXTS, Page, by_github, by_markdown_it, command_in

from inferstack.cli import escaping
from inferstack.cli.report import FORMATS, Findings, in_format
from inferstack.problems import FilePlace, Problem, Severity, on_one_line

OURS = {"h3", "ul", "li", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code"}

PARSERS = (by_github, by_markdown_it)


def visible(text: str) -> str:
    """What is left of a text when spaces, which Markdown joins, and what has no width are taken out."""
    return re.sub(r"[\s\u200b]+", "", text)


@settings(max_examples=300, deadline=None)
@given(file=TEXTS, message=TEXTS, fix=TEXTS, note=TEXTS)
def test_a_comment_has_no_markup_but_ours(file: str, message: str, fix: str, note: str) -> None:
    problem = Problem(FilePlace(file), message, fix, "IS101")
    made = in_format("markdown", Findings([problem], 1, [note]))
    assert not [line for line in made.splitlines() if line.startswith("/")], "a quick action of GitLab"
    assert "##[" not in made
    assert "##vso[" not in made
    for parser in PARSERS:
        page = Page(parser(made))
        assert set(page.tags) <= OURS, parser
        assert page.attributes == [], parser
        assert page.open == [], parser
        found = [page.tags.count(tag) for tag in ("h3", "ul", "li", "table", "tr", "td")]
        assert found == [1, 1, 1, 1, 2, 3], parser
        assert not [text for text in page.texts if LIVE.search(text)], parser


@settings(max_examples=300, deadline=None)
@given(said=TEXTS.filter(lambda it: "`" not in it))
def test_text_appears_as_it_is(said: str) -> None:
    for parser, escaped in product(PARSERS, (escaping.markdown, escaping.code)):
        page = Page(parser(f"| a |\n| --- |\n| {escaped(said)} |"))
        assert visible(page.all) == "a" + visible(on_one_line(said)), parser


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


@settings(max_examples=300, deadline=None)
@given(file=TEXTS, message=TEXTS)
def test_no_line_of_a_report_is_a_command(file: str, message: str) -> None:
    found = Findings([Problem(FilePlace(file), message, "", "IS101")], 1, [message])
    for form in sorted({*FORMATS} - {"github"}):
        printed = in_format(form, found)
        assert not [line for line in re.split("[\r\n]", printed) if command_in(line)], form


@settings(max_examples=200, deadline=None)
@given(file=TEXTS, message=TEXTS, severity=st.sampled_from(Severity))
def test_an_annotation_is_one_command_and_no_other(file: str, message: str, severity: Severity) -> None:
    problem = Problem(FilePlace(file), message, "", "IS101", severity)
    printed = in_format("github", Findings([problem], 1))
    [line] = printed.removesuffix("\n").splitlines()
    word = "notice" if severity is Severity.INFO else severity
    assert re.fullmatch(rf"::{word} file=[^:,\s]*( [^:,]*)*,line=1,col=1,title=IS101::.*", line)
    assert not command_in(line.removeprefix(f"::{word}"))


@pytest.mark.parametrize("name", ["::a.yaml", " ::a.yaml", "model_specs/a.yaml"])
def test_an_annotation_names_the_file_as_it_is_called(name: str) -> None:
    printed = in_format("github", Findings([Problem(FilePlace(name), "", "", "IS101")], 1))
    assert printed.split(",line")[0].replace("%3A", ":") == f"::error file={name}"


@given(said=TEXTS)
def test_json_means_what_it_meant(said: str) -> None:
    written = escaping.json_text({said: [said]})
    assert json.loads(written) == {said: [said]}
    assert "##" not in written
