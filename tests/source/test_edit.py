"""An edit changes what was asked for, and nothing else: not a comment, not a quote, not a line end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from inferstack.problems import SpecError
from inferstack.source import events
from inferstack.source.compose import compose
from inferstack.source.document import read_document
from inferstack.source.edit import Edit, edit_of, edited

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "model_specs").glob("*.yaml"))

# Text, changes, and the text that they make of it.
EDITS: dict[str, tuple[str, dict[Any, Any], str]] = {
    "a number": ("a: 1 # why\n", {("a",): 2}, "a: 2 # why\n"),
    "another type": ("a: 1\n", {("a",): 1.0}, "a: 1.0\n"),
    "a value that it has": ("a:   1\n", {("a",): 1}, "a:   1\n"),
    "single quotes": ("a: 'x' # c\n", {("a",): "it's"}, "a: 'it''s' # c\n"),
    "double quotes": ('a: "x"\n', {("a",): "y"}, 'a: "y"\n'),
    "a word that other readers take for true": ("a: x\n", {("a",): "on"}, 'a: "on"\n'),
    "text that looks like a number": ("a: x\n", {("a",): "0o17"}, 'a: "0o17"\n'),
    "text with brackets": ("a: x\n", {("a",): "${stage}, b"}, 'a: "${stage}, b"\n'),
    "a value left out": ("a: # c\nb: 1\n", {("a",): 2}, "a: 2 # c\nb: 1\n"),
    "Windows' line ends": ("a: 1\r\nb:\r\n  c: 2\r\n", {("b", "d"): 3}, "a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n"),
    "no line end": ("a: 1", {("b",): 2}, "a: 1\nb: 2"),
    "after a comment": ("a:\n  b: 1 # c\n  # d\n", {("a", "e"): 2}, "a:\n  b: 1 # c\n  e: 2\n  # d\n"),
    "after text of several lines": (
        "a:\n  b: |\n    x\n\n    y\nc: 1\n",
        {("a", "d"): 2},
        "a:\n  b: |\n    x\n\n    y\n  d: 2\nc: 1\n",
    ),
    "indented by four": ("a:\n    b: 1\n", {("a", "c"): 2}, "a:\n    b: 1\n    c: 2\n"),
    "a block, separated like others": ("a: 1\n\nb: 2\n", {("c",): {"d": 3}}, "a: 1\n\nb: 2\n\nc: {d: 3}\n"),
    "before the end of the document": ("a: 1\n...\n", {("b",): 2}, "a: 1\nb: 2\n...\n"),
    "into braces": ("a: {b: 1,  c: [2] }\n", {("a", "d"): [3]}, "a: {b: 1,  c: [2], d: [3] }\n"),
    "into braces over several lines": (
        "a: {\n  b: 1, # c\n}\n",
        {("a", "d"): 3},
        "a: {\n  b: 1, d: 3, # c\n}\n",
    ),
    "into empty braces": ("a: {}\n", {("a", "b"): 1}, "a: {b: 1}\n"),
    "what is missing on the way": ("a: 1\n", {("b", "c", 0, "d"): 2}, "a: 1\nb:\n  c:\n    - {d: 2}\n"),
    "below a key without a value": ("a:\n", {("a", "b"): 1}, "a: {b: 1}\n"),
    "an item": ("a:\n- b\n- c: 1\n", {("a", 2): "d"}, "a:\n- b\n- c: 1\n- d\n"),
    "fewer and other items": ("a: [1, 2, 3]\n", {("a",): [4, 2]}, "a: [4, 2]\n"),
    "fewer lines": ("a:\n  - 1\n  - 2 # c\n", {("a",): [1]}, "a:\n  - 1\n"),
    "a mapping, as far as it differs": (
        "a:\n  b: 1 # c\n  d: 2\n  e: 3\n",
        {("a",): {"b": 1, "e": 4, "f": 5}},
        "a:\n  b: 1 # c\n  e: 4\n  f: 5\n",
    ),
    "a removed key": ("a: 1\nb: # c\n  d: 2\ne: 3\n", {("b",): None}, "a: 1\ne: 3\n"),
    "a removed key in braces": ("a: {b: 1, c: 2}\n", {("a", "b"): None}, "a: {c: 2}\n"),
    "the last key in braces": ("a: {b: 1, c: 2}\n", {("a", "c"): None}, "a: {b: 1}\n"),
    "the first key of an item": ("a:\n- b: 1\n  c: 2\n", {("a", 0, "b"): None}, "a:\n- c: 2\n"),
    "the only key": ("a: {b: 1}\n", {("a", "b"): None}, "a: {}\n"),
    "a key that is not there": ("a: 1\n", {("b",): None}, "a: 1\n"),
    "over a merged value": (
        "a: &x {b: 1}\nc: {<<: *x}\n",
        {("c", "b"): 2},
        "a: &x {b: 1}\nc: {<<: *x, b: 2}\n",
    ),
    "several at once": ("a: 1\nb: {c: 2}\n", {("b", "c"): 3, ("a",): 4}, "a: 4\nb: {c: 3}\n"),
    "characters outside of the first plane": ("a: 😀 # ü\nb: 1\n", {("b",): 2}, "a: 😀 # ü\nb: 2\n"),
}

# Text, change, and why it is refused.
REFUSED: dict[str, tuple[str, dict[Any, Any], str]] = {
    "text that an alias repeats": (
        "a: &x {b: 1}\nc: *x\n",
        {("a", "b"): 2},
        "1:11: IS077: a change here would change `c.b`, too, because of an anchor or alias; "
        "by hand, write `a.b: 2`",
    ),
    "behind an alias": (
        "a: &x {b: 1}\nc: *x\n",
        {("c", "b"): 2},
        "`c` is `*x`, which stands for text elsewhere",
    ),
    "an alias itself": ("a: &x 1\nc: *x\n", {("c",): 2}, "`c` is `*x`"),
    "an anchored value": ("a: &x 1\n", {("a",): 2}, "the value has an anchor, `&x`"),
    "removing what is merged": (
        "a: &x {b: 1}\nc: {<<: *x}\n",
        {("c", "b"): None},
        "the value comes from a `<<`",
    ),
    "below what is merged": (
        "a: &x {b: {c: 1, d: 2}}\ne: {<<: *x}\n",
        {("e", "b", "c"): 2},
        "a change here would change `e.b.d`, too",
    ),
    "text of several lines": ("a: |\n  b\n", {("a",): "c"}, "has several lines"),
    "comments in what goes": ("a:\n  b: 1 # c\n  d: 2\n", {("a",): 1}, "perhaps comments"),
    "below a number": ("a: 1\n", {("a", "b"): 2}, "is not a mapping or list"),
    "a key of a list": ("a: [1]\n", {("a", "b"): 2}, "a list, not a mapping"),
    "an item too far": ("a: [1]\n", {("a", 2): 2}, "the list has 1 item"),
    "several documents": ("a: 1\n---\nb: 2\n", {("a",): 2}, "2:1: IS010"),
}


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(events, "LOADER", yaml.SafeLoader)


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize("name", EDITS)
def test_only_what_was_asked_for_is_different(name: str) -> None:
    before, changes, after = EDITS[name]
    assert edited(before, changes) == after


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_change_more_is_refused(name: str) -> None:
    before, changes, why = REFUSED[name]
    with pytest.raises(SpecError) as caught:
        edited(before, changes, file="spec.yaml")
    assert why in str(caught.value)


def test_a_list_of_blocks_is_written_as_people_write_it() -> None:
    policy = {
        "metric": "SageMakerVariantInvocationsPerInstance",
        "target_value": 934,
        "scale_in_cooldown": 600,
    }
    changes = {("autoscaling",): {"min_capacity": 1, "policies": [policy]}}
    assert edited("kind: x\n", changes) == (
        "kind: x\n"
        "autoscaling:\n"
        "  min_capacity: 1\n"
        "  policies:\n"
        "    - metric: SageMakerVariantInvocationsPerInstance\n"
        "      target_value: 934\n"
        "      scale_in_cooldown: 600\n"
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_value_of_an_example_can_be_changed_in_its_line(path: Path) -> None:
    text = path.read_text("utf-8")
    for at, _ in read_document(path).scalars:
        try:
            found = edited(text, {at: "changed"}, file=path.name)
        except SpecError:
            assert "&" in text
            continue
        if "<<" in text and found.count("\n") > text.count("\n"):
            # A merged value gets a key of its own.
            continue
        lines = list(zip(text.splitlines(), found.splitlines(), strict=True))
        assert sum(one != other for one, other in lines) == 1, at


def test_what_no_spec_can_hold_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="nan cannot be written"):
        edited("a: 1\n", {("a",): float("nan")})


# ---------------------------------------------------------------- any text

SCALARS = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab :#'\"\\{}[],&*!|>%@`-?é\n", max_size=6)
)
KEYS = st.text("abc-#: ", min_size=1, max_size=3)
DATA = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3),
    max_leaves=8,
)


def paths(data: Any, path: Any = ()) -> Iterator[Any]:
    if path:
        yield path
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in pairs:
        yield from paths(value, (*path, step))


@settings(deadline=None, max_examples=150)
@given(
    st.dictionaries(KEYS, DATA, min_size=1, max_size=4), DATA, st.data(), st.sampled_from([None, True, False])
)
def test_an_edit_of_any_text_is_right_or_refused(
    data: Any, value: Any, choice: Any, style: bool | None
) -> None:
    text = yaml.safe_dump(data, default_flow_style=style, allow_unicode=True, sort_keys=False)
    try:
        before = compose("", text).data
        path = choice.draw(st.sampled_from(list(paths(before))))
        after = compose("", edited(text, {path: value})).data
    except SpecError:
        return
    for other in paths(before):
        if other[: len(path)] != path and path[: len(other)] != other and value is not None:
            assert at(after, other) == at(before, other)
    if value is not None:
        assert at(after, path) == value


def at(data: Any, path: Any) -> Any:
    for step in path:
        data = data[step]
    return data


# ---------------------------------------------------------------- files and stages

STAGED = """\
kind: x
autoscaling: {max_capacity: 3, policies: [{target_value: 1}]}
stages:
  test: {}
  prod:
    autoscaling: {policies: [{target_value: 5}]}
    dashboard: null
"""


def edit(tmp_path: Path, changes: Any, stage: str | None = None, text: str = STAGED) -> Edit:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text.encode())
    return edit_of(path, changes, stage=stage)


def test_a_stage_is_edited_where_it_has_the_value_from(tmp_path: Path) -> None:
    changes: Any = {
        ("autoscaling", "max_capacity"): 4,
        ("autoscaling", "policies", 0, "target_value"): 6,
        ("dashboard", "period"): 60,
    }
    after = edit(tmp_path, changes, "prod").after
    assert after == (
        STAGED.replace("max_capacity: 3", "max_capacity: 4")
        .replace("target_value: 5", "target_value: 6")
        .replace("dashboard: null", "dashboard: {period: 60}")
    )
    assert "target_value: 1" in edit(tmp_path, changes, "prod").after
    assert edit(tmp_path, {("autoscaling", "max_capacity"): 9}, "test").after == STAGED.replace("3", "9")


def test_what_a_stage_would_not_see_is_refused(tmp_path: Path) -> None:
    text = "a: {b: 1, c: 2}\nstages: {prod: {a: {b: 3}}}\n"
    with pytest.raises(SpecError, match="IS077: `a` is put together from the spec and the stage `prod`"):
        edit(tmp_path, {("a",): {"b": 4}}, "prod", text)


def test_the_diff_has_the_name_of_the_file(tmp_path: Path) -> None:
    found = edit(tmp_path, {("a",): 2}, text="\ufeffa: 1\r\nb: 2")
    assert found.diff.splitlines()[2:] == ["@@ -1,2 +1,2 @@", "-a: 1", "+a: 2", " b: 2"]
    assert found.diff.startswith(f"--- {tmp_path.as_posix()}/spec.yaml\n")
    assert edit(tmp_path, {("a",): 1}, text="a: 1\n").diff == ""
