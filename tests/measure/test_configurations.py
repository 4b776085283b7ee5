"""Configurations of a model: read, made, written into a spec and into a `config.pbtxt`; and Triton's statistics."""

import pytest
from hypothesis import given, strategies as st

from inferstack.triton.config import ConfigError, parse_text
from inferstack.triton.measuring.config_edit import edited_text
from inferstack.triton.measuring.configurations import Configuration, changes, configured, declared
from inferstack.triton.measuring.statistics import Counted, counted

TEXT = """\
# The ranker.
name: "ranker"  # dynamic_batching { }
backend: "onnxruntime"
max_batch_size: 8
input [ { name: "X" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [
  { name: "Y", data_type: TYPE_FP32, dims: [ 4 ] }
]
# Two, as there is room.
instance_group [ { count: 2, kind: KIND_CPU } ]
dynamic_batching { preferred_batch_size: [ 4 ] }
parameters: { key: "intra_op_thread_count" value: { string_value: "2" } }
parameters: { key: "brackets" value: { string_value: "{[" } }
"""
ORT = "onnxruntime"
CONFIGURATIONS = st.builds(
    Configuration,
    st.sampled_from([0, 8, 16]),
    st.sampled_from([0, 2000]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0, 1, 2]),
).map(lambda it: it if it.batch else Configuration(0, 0, it.instances, it.threads))


def test_what_a_configuration_says_is_read() -> None:
    assert declared(parse_text(TEXT), ORT) == Configuration(8, 0, 2, 2)
    assert declared(parse_text('backend: "python"\nmax_batch_size: 8'), "python") == Configuration()


@given(CONFIGURATIONS)
def test_what_is_made_is_read_again(wanted: Configuration) -> None:
    assert declared(configured(parse_text(TEXT), ORT, wanted), ORT) == wanted


@given(CONFIGURATIONS)
def test_an_edited_text_says_what_is_wanted_and_keeps_its_comments(wanted: Configuration) -> None:
    before = parse_text(TEXT)
    made = configured(before, ORT, wanted)
    text = edited_text(TEXT, before, made)
    assert parse_text(text) == made
    assert "# The ranker.\n" in text
    assert '"ranker"  # dynamic_batching { }\n' in text
    assert "# Two, as there is room.\ninstance_group" in text


def test_an_edit_that_changes_nothing_changes_no_letter() -> None:
    before = parse_text(TEXT)
    assert edited_text(TEXT, before, before) == TEXT


def test_what_is_missing_comes_last_and_what_is_dropped_leaves_no_blank_line() -> None:
    text = 'name: "n"\nbackend: "python"\ndynamic_batching { }\nmax_batch_size: 4\n'
    before = parse_text(text)
    added = edited_text(text, before, configured(before, "python", Configuration(4, 0, 3)))
    assert added == f"{text}instance_group {{\n  count: 3\n}}\n"
    dropped = edited_text(text, before, configured(before, "python", Configuration(0, 0, 1)))
    assert dropped.startswith('name: "n"\nbackend: "python"\nmax_batch_size: 4\n')


def test_a_text_that_cannot_be_edited_is_refused() -> None:
    text = 'name: "n" max_batch_size: 4 backend:\n"py" "thon"\n'
    before = parse_text(text)
    other = parse_text(text)
    other.name = "other"
    with pytest.raises(ConfigError, match="by hand"):
        edited_text('# of another model\nbackend: "onnxruntime"', before, other)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Configuration(8, 0, 2, 2), {}),
        (Configuration(16, 0, 2, 2), {("max_batch_size",): 16}),
        (Configuration(8, 500, 2, 2), {("dynamic_batching",): {"max_queue_delay_microseconds": 500}}),
        (Configuration(0, 0, 2, 2), {("dynamic_batching",): None}),
        (Configuration(8, 0, 4, 2), {("instance_group",): [{"kind": "KIND_CPU", "count": 4}]}),
        (Configuration(8, 0, 2, 0), {("parameters", "intra_op_thread_count"): None}),
        (Configuration(8, 0, 2, 1), {("parameters", "intra_op_thread_count"): 1}),
    ],
)
def test_a_spec_is_told_what_differs(wanted: Configuration, said: dict[tuple[str, ...], object]) -> None:
    assert changes(parse_text(TEXT), ORT, wanted) == said


def test_configurations_have_names_that_people_read() -> None:
    assert Configuration(16, 500, 2, 1).name == "batch 16, delay 500 us, 2 instances, 1 thread"
    assert Configuration().name == "no batching, 1 instance"


def entry(count: int, ns: int, version: str = "1") -> dict[str, object]:
    of = {"count": count, "ns": ns}
    stats = dict.fromkeys(("success", "queue", "compute_input", "compute_infer", "compute_output"), of)
    batches = [{"batch_size": 4, "compute_infer": {"count": count // 4}}]
    return {
        "name": "net",
        "version": version,
        "inference_count": count,
        "execution_count": count // 4,
        "inference_stats": stats,
        "batch_stats": batches,
    }


def test_statistics_are_those_between_two_moments() -> None:
    before = counted({"model_stats": [entry(8, 8_000_000)]})["net"]
    after = counted({"model_stats": [entry(16, 24_000_000)]})["net"]
    found = after.since(before)
    assert (found.requests, found.batch, found.batches) == (8, 4.0, {4: 2})
    assert (found.queue_ms, found.compute_ms) == (2.0, 6.0)


def test_versions_of_a_model_are_added_up_and_a_model_without_requests_has_zeros() -> None:
    found = counted({"model_stats": [entry(8, 8_000_000), entry(4, 4_000_000, "2")]})["net"]
    assert (found.requests, found.batches) == (12, {4: 3})
    assert (Counted().queue_ms, Counted().batch) == (0.0, 0.0)
