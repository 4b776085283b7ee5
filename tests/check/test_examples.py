"""What `inferstack explain` shows for a code comes from the test cases, can be read at a glance, and exists."""

import yaml
from support.wrong_models import CASES, Case as ModelCase
from support.wrong_specs import WRONG as WRONG_SPECS, Case, Edit

from inferstack.check.every_code import BOTH, RIGHT, WRONG, Example, every_code, examples
from inferstack.triton.archive.entries import ARCHIVE_CODES
from tests.check.test_wrong_specs import NOT_IN_A_TEXT
from tests.triton.test_triton_rules import ON_DISK
from tools.spec_examples import spec_example
from tools.triton_examples import triton_example

WITHOUT = {
    "about files, folders, locks and updates, which no text of one spec shows": NOT_IN_A_TEXT,
    "about files beside the spec": ON_DISK,
    "about what lies in archives": set(ARCHIVE_CODES),
    "twenty-one steps are no short example": {"IS538"},
    "the ARN of a scaling policy, or of a linked role, is wider than the smallest terminal": {
        "IS134",
        "IS833",
    },
}
# The smallest terminal has 24 lines, five of which are for the code, its sentence and the caption.
MOST_LINES = 19


def test_every_code_that_a_spec_can_show_has_an_example() -> None:
    wanted = every_code().keys() - set[str]().union(*WITHOUT.values())
    assert examples().keys() == wanted, "`python -m tools.generate examples` makes it, from a wrong spec"


def test_every_case_that_is_there_to_be_shown_is_shown() -> None:
    titles = {example.title for example in examples().values()}
    assert [case.title for case in (*WRONG_SPECS, *CASES) if case.is_shown and case.title not in titles] == []


def test_a_terminal_shows_all_of_an_example_whose_right_side_is_yaml() -> None:
    for code, example in examples().items():
        shown = list(example.shown())
        assert len(shown) <= MOST_LINES, code
        assert max(map(len, shown)) <= 80, code
        assert all(line.isprintable() for line in shown), code
        right = side(example, RIGHT)
        assert isinstance(yaml.safe_load(right) or {}, dict), code
        assert right != side(example, WRONG), code


def side(example: Example, mark: str) -> str:
    return "".join(f"{line[1:]}\n" for line in example.lines if line[0] in (mark, BOTH))


def test_an_example_has_the_changed_lines_below_the_keys_above_them() -> None:
    place = "      wait_interval_in_seconds: 300\n".replace("      ", "        ", 1)
    case = Case(
        True,
        False,
        "gpu",
        frozenset(),
        "no wait",
        (Edit(place, place.replace("300", "9  # <- IS612"), place, ""),),
    )
    assert spec_example(case, with_kind=False).lines == (
        " endpoint:",
        "   deployment_config:",
        "     blue_green_update_policy:",
        "       traffic_routing_configuration:",
        "-        wait_interval_in_seconds: 9",
        "+        wait_interval_in_seconds: 300",
    )
    assert spec_example(case, with_kind=True).lines[0] == " kind: single-model"


def shown_of_tags(*wrong: str) -> list[str]:
    place = "tags:\n  team: growth\n"
    case = Case(
        True, False, "single", frozenset(), "", (Edit(place, "".join(f"{it}\n" for it in wrong), place, ""),)
    )
    return [line[1:] for line in spec_example(case, with_kind=False).lines if line[0] == WRONG]


def test_of_what_repeats_itself_an_example_shows_enough() -> None:
    assert shown_of_tags("tags:", "  team: {x:300}") == ["  team: xxx…xxx  # x 300 times"]
    assert shown_of_tags("tags:", "  team: {x:8}") == ["  team: xxxxxxxx"]
    assert shown_of_tags("tags:", "  {<51 of t#: x>}") == ["  {t0: x, t1: x, …, t50: x}"]


def test_no_example_holds_what_looks_like_a_whole_secret() -> None:
    assert shown_of_tags("tags:", "  team: AKIA{Q:1}X7MZ2LTRW5PD3KJ") == ["  team: AKIA…X7MZ2LTRW5PD3KJ"]


def test_lines_of_both_sides_that_a_case_sets_aside_are_not_shown() -> None:
    place = "tags:\n  team: growth\n"
    edit = Edit(place, "tags:\n  a: b\n  c: d\n", "tags:\n  a: b\n  c: e\n", "  a: b\n")
    case = Case(True, False, "single", frozenset(), "", (edit,))
    assert spec_example(case, with_kind=False).lines == (" tags:", "-  c: d", "+  c: e")


def of_model(*lines: str) -> list[str]:
    return list(triton_example(ModelCase("", False, lines)).lines)[2:]


def test_of_a_model_an_example_opens_what_differs() -> None:
    assert of_model("  models:", "-   m: {a: {b: [1, 2]}, c: {d: e}}", "+   m: {a: {b: [1]}, c: {d: e}}") == [
        "     m:",
        "       a:",
        "-        b: [1]",
        "+        b: [1, 2]",
        "       c: {d: e}",
    ]


def test_macros_that_both_models_have_are_left_out() -> None:
    assert of_model("  models:", "    n: {$IO}", "-    m: {$PY, a: 1}", "+    m: {$PY, a: 2}") == [
        "     n: …",
        "     m:",
        "-      a: 2",
        "+      a: 1",
    ]


def test_a_macro_that_one_model_lacks_is_written_out() -> None:
    assert of_model("  models:", "-    m: {$PY, $IN}", "+    m: {$PY}") == [
        "     m:",
        "+      input: [{name: X, data_type: TYPE_FP32, dims: [1]}]",
    ]


def test_items_of_a_list_are_compared_one_by_one() -> None:
    head, wrong, right = "  models: {m: {input: [{n: X},", "+ {n: Y, d: 1}]}}", "- {n: Z, d: 1}]}}"
    assert of_model(head, wrong, right) == [
        "     m:",
        "       input:",
        "         - {n: X}",
        "-        - n: Y",
        "+        - n: Z",
        "           d: 1",
    ]


def test_an_item_that_begins_otherwise_is_written_twice() -> None:
    head, wrong, right = "  models: {m: {input: [{n: X},", "+ {a: 1, n: Y}]}}", "- {n: Y}]}}"
    assert of_model(head, wrong, right)[2:] == [
        "         - {n: X}",
        "-        - {a: 1, n: Y}",
        "+        - {n: Y}",
    ]


def test_what_a_case_changes_of_the_usual_endpoint_is_part_of_its_example() -> None:
    lines = triton_example(
        ModelCase("", False, ('-head: {image: "24.05"}', '+head: {image: "24.01"}', "  models: {m: {}}"))
    ).lines
    assert lines == (
        " model:",
        "   image:",
        "     framework: triton",
        '-    version: "24.01"',
        '+    version: "24.05"',
        " triton: {models: {m: {}}}",
    )
