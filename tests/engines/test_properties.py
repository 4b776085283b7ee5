"""`serving.properties` is read as Java reads properties, and variables get its names."""

import pytest

from inferstack.engines.properties import in_words_of_the_file, properties_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("option.dtype=bf16", [("option.dtype", "bf16", 1)]),
        ("option.dtype : bf16\r\nengine Python\r", [("option.dtype", "bf16", 1), ("engine", "Python", 2)]),
        ("# a=1\n\n  ! b=2\n c = d = e ", [("c", "d = e ", 4)]),
        ("a=1 # no remark", [("a", "1 # no remark", 1)]),
        ("a=1,\\\n   2,\\\n   3\nb=4", [("a", "1,2,3", 1), ("b", "4", 4)]),
        ("a=x\\\\\nb=1", [("a", "x\\", 1), ("b", "1", 2)]),
        ("a=the end\\", [("a", "the end", 1)]),
        (r"a\=b\:c=\u0041\tz\q", [("a=b:c", "A\tzq", 1)]),
        ("alone\nempty=", [("alone", "", 1), ("empty", "", 2)]),
        ('option.x={"a": "b"}', [("option.x", '{"a": "b"}', 1)]),
        ("=1", [("", "1", 1)]),
    ],
)
def test_an_entry(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert [(it.name, it.value, it.line) for it in properties_in(text)] == expected


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("option.max_model_len", "OPTION_MAX_MODEL_LEN"),
        ("option.entryPoint", "OPTION_ENTRYPOINT"),
        ("engine", "OPTION_ENGINE"),
        ("job_queue_size", None),
    ],
)
def test_which_variable_sets_the_same(name: str, variable: str | None) -> None:
    [found] = properties_in(f"{name}=1")
    assert found.variable == variable


def test_a_message_has_the_names_of_the_file() -> None:
    said = 'OPTION_DTYPE is "half"; write `OPTION_MAX_LORAS: "4"`, write "true", or `SERVING_JOB_QUEUE_SIZE`'
    expected = 'option.dtype is "half"; write `option.max_loras=4`, write `true`, or `job_queue_size`'
    assert in_words_of_the_file(said) == expected
