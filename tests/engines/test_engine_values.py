"""What options accept, compared with a parser of Python's that has them; and what containers make of variables."""

import argparse
import contextlib
import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from inferstack.engines.arguments import words_after
from inferstack.engines.tables import look
from inferstack.engines.values import EngineOption
from inferstack.facts.engines import RunningEngine

NUMBERS = {"int": int, "float": float, "json": json.loads, "text": str}
KINDS: dict[str, type[argparse.Action] | str] = {
    "flag": argparse.BooleanOptionalAction,
    "switch": "store_true",
}
WORDS = st.one_of(
    st.sampled_from(
        ["", "true", "false", "auto", "None", "-1", "-0.5", "-x", "1_0", " 8 ", "nan", "[1]", '{"a": 1}', "0"]
    ),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=8),
)


def comparable(engine: str, version: str) -> dict[str, EngineOption]:
    """Options of the kinds that argparse has itself."""
    found = look(engine, version)
    assert found is not None
    return {
        name: it
        for name, it in found.by_version[0].items()
        if it.kind in {*NUMBERS, *KINDS} and not it.folded
    }


def optional(read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: None if text in ("", "None") else read(text)


def parser_of(options: dict[str, EngineOption]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    for name, it in options.items():
        if it.kind in KINDS:
            parser.add_argument(f"--{name}", action=KINDS[it.kind])
        else:
            read = NUMBERS[it.kind]
            parser.add_argument(
                f"--{name}",
                type=optional(read) if it.optional else read,
                nargs="+" if it.many else None,
                choices=[*it.choices, *([None] if it.optional else [])] if it.choices else None,
            )
    return parser


def accepts(parser: argparse.ArgumentParser, words: list[str]) -> bool:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            parser.parse_args(words)
        except SystemExit:
            return False
    return True


TABLES = {"vllm": comparable("vllm", "0.30.0"), "sglang": comparable("sglang", "0.5.19")}
PARSERS = {engine: parser_of(options) for engine, options in TABLES.items()}
RUNNING = {
    engine: RunningEngine(engine, version, version)
    for engine, version in (("vllm", "0.30.0"), ("sglang", "0.5.19"))
}


@settings(max_examples=400, deadline=None)
@given(data=st.data(), engine=st.sampled_from(["vllm", "sglang"]), value=WORDS)
def test_what_is_accepted_is_what_a_parser_accepts(data: st.DataObject, engine: str, value: str) -> None:
    name = data.draw(st.sampled_from(sorted(TABLES[engine])))
    option = TABLES[engine][name]
    words = words_after(RUNNING[engine], name, value)
    if words is None or any(it.startswith("--") for it in words):
        return
    bounds = option.least, option.above, option.most, option.below
    refused = option.refusal(list(words)) is not None
    parsed = accepts(PARSERS[engine], [f"--{name}", *words])
    # The engine itself checks bounds after its parser.
    assert refused != parsed or (refused and bounds != (None,) * 4)


@pytest.mark.parametrize(
    ("running", "option", "value", "words"),
    [
        (("vllm", "0.27.1"), "max-num-seqs", "8", ("8",)),
        (("vllm", "0.27.1"), "enable-lora", "True", ()),
        (("vllm", "0.27.1"), "enable-lora", "", ()),
        (("vllm", "0.27.1"), "enable-lora", "false", None),
        (("vllm", "0.15.1"), "enable-lora", "true", None),
        (("vllm", "0.26.0"), "served-model-name", '["a", "b"]', ('["a", "b"]',)),
        (("vllm", "0.28.0"), "served-model-name", '["a", "b"]', None),
        (("vllm", "0.30.0"), "served-model-name", '["a", "b"]', ["a", "b"]),
        (("vllm", "0.30.0"), "served-model-name", "[]", None),
        (("vllm", "0.30.0"), "cudagraph-capture-sizes", "[1, 2]", ["1", "2"]),
        (("vllm", "0.30.0"), "allowed-origins", '["*"]', ('["*"]',)),
        (("vllm", "0.30.0"), "chat-template", "[not JSON", ("[not JSON",)),
        (("sglang", "0.5.19"), "served-model-name", '["a"]', ('["a"]',)),
        (("tgi", "3.3.6"), "QUANTIZE", "", ("",)),
    ],
)
def test_words_of_a_variable(running: tuple[str, str], option: str, value: str, words: object) -> None:
    assert words_after(RunningEngine(*running, running[1]), option, value) == words


@pytest.mark.parametrize(("release", "splits"), [("2.3", False), ("2.4", True), ("2.10", True)])
def test_a_server_image_splits_lists_since_2_4(release: str, splits: bool) -> None:
    running = RunningEngine("vllm", "0.27.0", f"server-sagemaker-cuda-v{release}")
    assert words_after(running, "api-key", '["a", "b"]') == (["a", "b"] if splits else ('["a", "b"]',))


@pytest.mark.parametrize(
    ("option", "right", "wrong"),
    [
        (EngineOption("size", least=1), ["8", "8k", "1.5k", "2M", " 8 "], ["1.5K", "k", "8kb", "0"]),
        (EngineOption("size-or-auto"), ["auto", "AUTO", "-1", "32k"], ["max", ""]),
        (EngineOption("object"), ["{}", '{"a": 80m}', '{"a": "80m"}'], ["[]", "1", "{a: 1}", "{" * 5000]),
        (EngineOption("json-or-text"), ["x", '{"a": 1}'], ["{x}"]),
        (EngineOption("count"), ["0", "+1"], ["-1", "1_0", "1.0", "\uff14"]),
        (EngineOption("count-or-max"), ["max", "2"], ["auto", "MAX"]),
        (EngineOption("true-or-false"), ["true", "false"], ["True", "1", ""]),
        (EngineOption("boolean"), ["True", "off", "1"], ["2", ""]),
        (EngineOption("text", choices=("a_b",), folded=True), ["A-B", "a_b"], ["ab"]),
        (EngineOption("float", above=0, most=1), ["1", "0.5"], ["0", "1.1", "nan"]),
    ],
)
def test_kinds_of_values(option: EngineOption, right: list[str], wrong: list[str]) -> None:
    assert [it for it in right if option.refusal([it]) is not None] == []
    assert [it for it in wrong if option.refusal([it]) is None] == []
