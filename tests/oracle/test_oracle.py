"""Triton itself shows whether the checks are right: it serves what they accept, and refuses what they refuse."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle.rows import ROWS
from oracle.serving import Oracle, mutated, oracle, our_errors, write

from inferstack.triton.rules import RULES

SERVED = [pytest.param(number, id=row.title) for number, (row, *_) in enumerate(ROWS) if not row.may_hang]
HANGING = [pytest.param(number, id=row.title) for number, (row, *_) in enumerate(ROWS) if row.may_hang]
# Errors that no row can show, because they are about a server's surroundings.
ELSEWHERE = {
    "IS775": "the ONNX backend, which the server lacks; ONNX Runtime stands in for it in tests/rehearsal/test_onnx.py",
    "IS901": "the container's start script looks for folders",
    "IS905": "no folder has such a name",
    "IS906": "a newer Triton refuses it, behind a multi-model endpoint",
    "IS912": "files of a spec, before they are in a repository",
    "IS914": "the front end of SageMaker chooses among models",
    "IS915": "the front end of SageMaker looks for an ensemble",
    "IS916": "the environment of the container",
    "IS917": "the container's start script chooses among models",
    "IS918": "the front end of SageMaker asks for one answer",
    "IS928": "a field of newer releases",
    "IS943": "backends that the server lacks",
    "IS969": "the command line of the server",
    "IS971": "a platform of newer releases",
    "IS972": "the environment of the container",
    "IS973": "the environment of the container",
    "IS974": "what stands for something in a spec",
    "IS975": "the PyTorch backend, which the server lacks",
    "IS978": "the PyTorch backend, which the server lacks",
    "IS979": "the PyTorch backend, which the server lacks",
    "IS991": "what no archive holds; a server would follow a link",
}


def _judge(number: int, servers: Callable[[], Oracle], folder: Path) -> None:
    row, base, default = ROWS[number]
    mark = f"m{number}"
    files = mutated(row, base, mark)
    write(files, folder)
    name = default.replace("@", mark)
    assert our_errors(folder, name) == set(row.codes)
    server = servers()
    verdict, words = _verdict(server, files, name)
    if server.ended:
        verdict, words = _verdict(servers(), files, name)
    assert verdict == row.triton or (row.at_times_hangs and verdict == "hangs"), words


def _verdict(server: Oracle, files: dict[str, str], name: str) -> tuple[str, str]:
    write(files, server.folder)
    return server.verdict(name)


@pytest.mark.parametrize("number", SERVED)
def test_triton_does_with_a_repository_what_the_checks_foretell(
    number: int, servers: Callable[[], Oracle], tmp_path: Path
) -> None:
    _judge(number, servers, tmp_path)


@pytest.mark.parametrize("number", HANGING)
def test_what_triton_never_ends_loading_is_refused_by_the_checks(number: int, tmp_path: Path) -> None:
    # A server of its own, since it is unusable afterwards.
    with oracle(answer_seconds=5.0) as server:
        _judge(number, lambda: server, tmp_path)


def test_each_difference_between_triton_and_the_checks_has_its_reason() -> None:
    assert [row.title for row, *_ in ROWS if row.agreed != (not row.why)] == []


def test_every_error_about_what_triton_loads_is_held_against_it() -> None:
    shown = {code for row, *_ in ROWS for code in row.codes}
    errors = {rule.code for rule in RULES.values() if rule.severity == "error"}
    assert errors - shown == set(ELSEWHERE)


def test_there_are_enough_rows_of_either_kind_and_no_two_of_one_title() -> None:
    kinds = Counter(bool(row.codes) for row, *_ in ROWS)
    assert min(kinds.values()) >= 40
    assert len({row.title for row, *_ in ROWS}) == len(ROWS)
