"""Reading a spec file: what is accepted, and how each problem of its YAML is reported."""

from pathlib import Path
from typing import Any

import pytest
from support.documents import Problems, Read, places

from inferstack.problems import file_codes
from inferstack.source.document import read_document

# ---------------------------------------------------------------- what is accepted


def test_data_keeps_the_order_of_the_file(read: Read) -> None:
    assert list(read("z: 1\na: 2\nm: {y: 1, b: 2}\n").data) == ["z", "a", "m"]


def test_the_file_name_is_kept_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path)
    assert read_document("./a.yaml").file == "./a.yaml"
    assert read_document(tmp_path / "a.yaml").file == (tmp_path / "a.yaml").as_posix()


def test_a_byte_order_mark_is_no_part_of_the_text(read: Read) -> None:
    document = read(b"\xef\xbb\xbfa: 1\n")
    assert document.data == {"a": 1}
    assert document.position(("a",), key=True) == (1, 1)


def test_a_byte_order_mark_takes_no_column(problems: Problems) -> None:
    assert places(problems(b"\xef\xbb\xbfa\x07: 1\n")) == [(file_codes.UNPRINTABLE, 1, 2)]


@pytest.mark.parametrize("text", ["\xa0", "é", "€", "\ufffd", "😀", "\u2003", "\ue000"])
def test_characters_beyond_ascii_are_text(read: Read, text: str) -> None:
    assert read(f"a: 'x{text}y'\n{text}z: 1\n").data == {"a": f"x{text}y", f"{text}z": 1}


def test_a_character_that_may_not_stand_in_a_file_can_be_escaped(read: Read) -> None:
    assert read('a: "x\\u2028y\\u0085z\\u202e"\n').data == {"a": "x\u2028y\x85z\u202e"}


def test_windows_line_ends_are_line_ends(read: Read) -> None:
    document = read(b"a: 1\r\nb:\r\n  c: 2\r\n")
    assert document.data == {"a": 1, "b": {"c": 2}}
    assert document.position(("b", "c")) == (3, 6)


def test_document_markers_and_a_yaml_directive_are_fine(read: Read) -> None:
    assert read("%YAML 1.2\n---\na: 1\n...\n").data == {"a": 1}


def test_an_alias_repeats_what_its_anchor_names(read: Read) -> None:
    assert read("a: &x {k: [1]}\nb: *x\nc: [*x]\n").data == {
        "a": {"k": [1]},
        "b": {"k": [1]},
        "c": [{"k": [1]}],
    }


def test_an_alias_means_the_last_anchor_of_its_name(read: Read) -> None:
    assert read("a: &x 1\nb: &x 2\nc: *x\nd: &x [&x 3]\ne: *x\n").data["c"] == 2
    assert read("d: &x [&x 3]\ne: *x\n").data["e"] == 3


def test_an_alias_can_be_a_key(read: Read) -> None:
    assert read("a: &x name\n*x : 1\n").data == {"a": "name", "name": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", {"x": 1, "y": 3}),
        ("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}", {"y": 3, "x": 1}),
        ("a: &a {x: {p: 1}}\nb: {<<: *a, x: {q: 2}}", {"x": {"q": 2}}),
        ("a: &a {x: 1}\nc: &c {x: 2, z: 3}\nb: {<<: [*a, *c]}", {"x": 1, "z": 3}),
        ("b: {<<: {x: 1}, y: 2}", {"x": 1, "y": 2}),
        ("b: {<<: [], y: 2}", {"y": 2}),
        ("a: &a {x: 1}\nc: &c {<<: *a}\nb: {<<: *c}", {"x": 1}),
    ],
)
def test_merge_keys_merge_shallowly_and_own_keys_win(read: Read, text: str, expected: dict[str, Any]) -> None:
    assert read(text).data["b"] == expected


def test_merged_keys_take_the_place_of_the_merge_key(read: Read) -> None:
    text = "a: &a {x: 1, y: 2, z: 3}\nb: {p: 0, <<: *a, y: 9, q: 0}"
    assert list(read(text).data["b"]) == ["p", "x", "z", "y", "q"]


@pytest.mark.parametrize("key", ['"<<"', "'<<'", "!!str <<"])
def test_a_quoted_merge_key_is_a_plain_key(read: Read, key: str) -> None:
    assert read(f"a: {{{key}: 1}}").data == {"a": {"<<": 1}}


def test_a_merge_key_elsewhere_is_text(read: Read) -> None:
    assert read("a: <<\nb: [<<]\n").data == {"a": "<<", "b": ["<<"]}


# ---------------------------------------------------------------- YAML


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        ("a:\n\tb: 1\n", 2, "tabs"),
        ("a: 1\n\tb: 2\n", 2, "tabs"),
        ("a: b: c\n", 1, "quote a text with `: `"),
        ("x: 1\n  a: b: c\n", 2, "line 2 is indented deeper than line 1"),
        ("a:\n  b: 1\n    c: 2\n", 3, "line 3 is indented deeper than line 2, whose key has a value"),
        ("a:\n- b: 1\n\n   c: 2\n", 4, "line 4 is indented deeper than line 2, whose key has a value"),
        ("a:1\nb: 2\n", 2, "put a space after the colon on line 1"),
        ("a = 1\nb: 2\n", 2, "write `key: value` on line 1"),
        ("a: b\nc: d: e\n", 2, "quote a text with `: `"),
        ("a: [1, ${AWS::Region}]\n", 1, "quote a text with `${…}`"),
        ("a: [1 2\nb: 3\n", 2, "close the bracket"),
        ("a: 1\nb: 'x\n", 2, "close the quote"),
        ("a: @x\n", 1, "quote a text that starts with `@`"),
        ("a: 1\nb\nc: 1\n", 3, "write `key: value`"),
        ("a:\n  b: 1\n c: 1\n", 3, "indent the keys"),
        ("- a\nb: 1\n", 2, "indent the keys"),
        ('a: "C:\\q"\n', 1, "backslash"),
        ("a: * x\n", 1, "starts with `*`"),
        ("a: !x!y 1\n", 1, "remove the tag"),
        ("a: ]\n", 1, "starts with a bracket"),
        ("%YAML 3.0\n---\na: 1\n", 1, "starts with `%`"),
        ("%TAG ! a\n%TAG ! a\n---\na: 1\n", 2, "starts with `%`"),
    ],
)
def test_a_syntax_error_tells_line_and_remedy(problems: Problems, text: str, line: int, fix: str) -> None:
    (problem,) = problems(text)
    assert problem.code == file_codes.SYNTAX
    assert problem.line in {line, line + 1}  # The parsers disagree on where a missing end is missed.
    assert fix in problem.fix


@pytest.mark.parametrize("text", ["a: !%ED%A0%80 b", 'a: "\\UFFFFFFFF"', 'b: {"\\ud800": 1}'])
def test_escapes_that_are_no_character_are_syntax_errors(problems: Problems, text: str) -> None:
    assert [problem.code for problem in problems(text)] == [file_codes.SYNTAX]


def test_several_documents_are_an_error(problems: Problems) -> None:
    assert places(problems("a: 1\n---\nb: 1\n")) == [(file_codes.SEVERAL_DOCUMENTS, 2, 1)]


@pytest.mark.parametrize(("text", "found"), [("- 1\n", "a list"), ("hello\n", '"hello"'), ("3\n", "3")])
def test_the_top_must_be_a_mapping(problems: Problems, text: str, found: str) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.line, problem.column) == (file_codes.NOT_A_MAPPING, 1, 1)
    assert found in problem.message


def test_a_duplicate_key_is_an_error_that_names_both_lines(problems: Problems) -> None:
    (problem,) = problems("v:\n  a: 1\n  b: 2\n  a: 3\n")
    assert (problem.code, problem.line, problem.column) == (file_codes.DUPLICATE_KEY, 4, 3)
    assert '"a"' in problem.message
    assert "line 2" in problem.message
    assert problem.path == ("v", "a")


@pytest.mark.parametrize(
    "text",
    [
        "x: &x {a: 1}\nb: {<<: *x, a: 2, a: 3}",
        "x: &x {a: 1}\nb: {a: 2, <<: *x, a: 3}",
        "x: &x {a: 1}\nb: {<<: *x, <<: *x}",
        'b: {a: 1, "a": 2}',
        "b: {a: 1, !!str a: 2}",
        "b: {&a a: 1, *a : 2}",
        "b: {a: , a: }",
    ],
)
def test_nothing_excuses_a_duplicate_key(problems: Problems, text: str) -> None:
    assert [problem.code for problem in problems(text)] == [file_codes.DUPLICATE_KEY]


@pytest.mark.parametrize(
    "text", ["1: x", "null: x", "~: x", "? \n: x", "true: x", "1.5: x", "[a]: b", "{a: b}: c", "? [a]\n: b"]
)
def test_a_key_that_is_not_text_is_an_error(problems: Problems, text: str) -> None:
    assert [problem.code for problem in problems(text)] == [file_codes.KEY_NOT_TEXT]


def test_an_unquoted_dynamic_reference_is_explained(problems: Problems) -> None:
    (problem,) = problems("a: {{resolve:ssm:/x}}")
    assert (problem.code, problem.line, problem.column) == (file_codes.KEY_NOT_TEXT, 1, 5)
    assert "quote" in problem.fix


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("a: !Ref AWS::Region", "${AWS::Region}"),
        ("a: !Sub 'x-${AWS::Region}'", "${AWS::Region}"),
        ("a: !GetAtt Role.Arn", "{{resolve:ssm:"),
        ("a: !Join ['-', [a]]", "{{resolve:ssm:"),
        ("a: !!python/object/apply:os.system [ls]", "plain data"),
        ("a: !!timestamp 2026-01-01", "text"),
        ("a: !!set {x}", "list or a mapping"),
        ("a: !Include other.yaml", "remove the tag"),
        ("a: !<tag:example.com,2026:x> 1", "remove the tag"),
        ("a: !%0Ax 1", "remove the tag"),
    ],
)
def test_tags_beyond_plain_data_are_errors_that_name_the_alternative(
    problems: Problems, text: str, fix: str
) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.line, problem.column) == (file_codes.TAG, 1, 4)
    assert fix in problem.fix


@pytest.mark.parametrize(("text", "what"), [("a: !!map [1]", "a mapping"), ("a: !!seq {b: 1}", "a list")])
def test_a_collection_tag_must_be_true(problems: Problems, text: str, what: str) -> None:
    (problem,) = problems(text)
    assert problem.code == file_codes.TAG
    assert f"not {what}" in problem.message


def test_true_collection_tags_are_fine(read: Read) -> None:
    assert read("!!map\na: !!seq [1]\nb: !!map {c: 1}\nd: ! [1]").data == {"a": [1], "b": {"c": 1}, "d": [1]}


@pytest.mark.parametrize(
    ("text", "column"), [("<<: 1", 5), ("<<: text", 5), ("<<: ", 4), ("a: 1\n<<: [{b: 1}, 2]", 14)]
)
def test_merging_what_is_no_mapping_is_an_error(problems: Problems, text: str, column: int) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.column) == (file_codes.MERGE, column)


def test_an_alias_without_anchor_names_the_nearest(problems: Problems) -> None:
    (problem,) = problems("a: &chat 1\nb: *chta\n")
    assert (problem.code, problem.line, problem.column) == (file_codes.UNKNOWN_ALIAS, 2, 4)
    assert "`*chat`" in problem.fix


def test_all_problems_of_a_file_are_reported_at_once(problems: Problems) -> None:
    text = "a: 1\na: 2\n3: x\nb: !Ref c\nc: !!int x\nd: {<<: 7}\ne: 1\ne: 2\n"
    assert places(problems(text)) == [
        (file_codes.DUPLICATE_KEY, 2, 1),
        (file_codes.KEY_NOT_TEXT, 3, 1),
        (file_codes.TAG, 4, 4),
        (file_codes.UNFIT_SCALAR, 5, 4),
        (file_codes.MERGE, 6, 9),
        (file_codes.DUPLICATE_KEY, 8, 1),
    ]


def test_problems_ahead_of_a_syntax_error_are_reported_too(problems: Problems) -> None:
    codes = [problem.code for problem in problems("a: 1\na: 2\nb: [\n")]
    assert codes == [file_codes.DUPLICATE_KEY, file_codes.SYNTAX]


def test_every_code_has_a_meaning_and_is_used_once() -> None:
    public = {name: it for name, it in vars(file_codes).items() if name.isupper() and name[0] != "_"}
    codes = [it for it in public.values() if isinstance(it, str)]
    assert sorted(codes) == sorted([*file_codes.FILE_CODES, *file_codes.COMPARISON_CODES])
