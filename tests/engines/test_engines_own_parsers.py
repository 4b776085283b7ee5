"""What options accept, compared with what the engines' own parsers said: recorded, or asked where build/ has them."""

import json
from collections.abc import Iterable, Iterator, Sequence

import pytest

from inferstack.check.load import parse_spec
from inferstack.check.rules import RULES
from inferstack.engines.tables import look
from tools import lmi_properties, vllm_parser

LMI = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi28.0.0-cu130"
OF_VALUES = ("IS342", "IS344", "IS346", "IS348")


def test_vllm_was_asked_by_several_versions() -> None:
    rows = [json.loads(it) for it in vllm_parser.RECORDED.read_text("utf-8").splitlines()]
    assert len(rows) >= 300
    assert len({version for version, _, _ in rows}) >= 4
    assert [row for row in rows if _differs(*row)] == []


def _differs(version: str, answer: bool, line: Sequence[str]) -> bool:
    known = look("vllm", version)
    assert known is not None
    return vllm_parser.accepted(known, line) != answer


@pytest.mark.parametrize("version", vllm_parser.wheels() or [""])
def test_all_lines_against_the_parser_of_a_wheel(version: str) -> None:
    if not version:
        pytest.skip(f"no wheel in build/: {vllm_parser.FETCH}")
    known = look("vllm", version)
    assert known is not None
    lines = [*vllm_parser.command_lines(known)]
    answers = vllm_parser.judged(vllm_parser.wheels()[version], lines)
    assert [
        line for line, it in zip(lines, answers, strict=True) if vllm_parser.accepted(known, line) != it
    ] == []


def test_lmi_was_asked() -> None:
    rows = [json.loads(it) for it in lmi_properties.RECORDED.read_text("utf-8").splitlines()]
    assert len(rows) >= 140
    assert [*_of_lmi(rows)] == []


def test_all_options_against_the_class_in_a_clone() -> None:
    if not lmi_properties.CLONE.is_dir() or lmi_properties.VLLM not in vllm_parser.wheels():
        pytest.skip("no clone and wheel in build/: see tools/lmi_properties.py")
    lines = [*lmi_properties.lines()]
    answers = lmi_properties.judged(lines)
    assert [*_of_lmi(zip(answers, lines, strict=True))] == []


def _of_lmi(rows: Iterable[tuple[bool, tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """The options with values of which LMI says another thing than the rules about values."""
    for answer, (option, value) in rows:
        spec = parse_spec(
            {
                **{"kind": "single-model", "endpoint_name": "chat"},
                "model": {"image": LMI, "environment": {f"OPTION_{option.upper()}": value}},
                "variant": {"instance_type": "ml.g6e.2xlarge", "initial_instance_count": 2},
            }
        ).spec
        if answer == any(True for code in OF_VALUES for _ in RULES[code].check(spec)):
            yield option, value
