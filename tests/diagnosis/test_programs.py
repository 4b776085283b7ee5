"""Sentences as the sources of programs and AWS's pages have them, in the frames that logs put around them."""

import json

import pytest
from diagnosis.scoring import answer, cases
from diagnosis.test_verdicts import told

from inferstack.diagnosis.signature import every_signature

CASES = cases("programs.yaml")
TRACEBACK = 'Traceback (most recent call last):\n  File "/usr/lib/a.py", line 1, in <module>\n    f()\n'
FRAMES = {
    "multi-model-server": "2021-01-01 10:00:00,000 [INFO ] W-9000-model-stdout com.amazonaws.ml.mms.wlm.WorkerLifeCycle - ",
    "TorchServe": "2024-01-01T10:00:00,000 [WARN ] W-9000-model_1.0-stderr MODEL_LOG - ",
    "LMI": "INFO  PyProcess W-188-model-stdout: [1,0]<stderr>:",
    "LMI before 0.20": "[WARN ] PyProcess - W-188-model-stderr: ",
    "vLLM": "(EngineCore_DP0 pid=270) ERROR 09-18 10:00:00 [core.py:700] ",
    "SageMaker's algorithms": "[2024-01-01:10:00:00:ERROR] ",
    "Python's logging": "2024-01-01 10:00:00,000 - my-server - ERROR - ",
    "aws logs tail": "2024-01-01T10:00:00.000000+00:00 AllTraffic/i-0123456789abcdef0 ",
}


def framed_lines() -> list[tuple[str, str]]:
    """The lines of logs that the verdicts rest on, with their codes."""
    of_logs = {code for code, found in every_signature().items() if any(it.where != "reason" for it in found)}
    found = [(case.cause or "", answer(case).line) for case in CASES if case.cause in of_logs]
    return [
        (code, line) for code, line in found if "Received" not in line and "An error occurred" not in line
    ]


@pytest.mark.parametrize("case", CASES, ids=[f"{it.cause} {it.text[:30]}" for it in CASES])
def test_a_sentence_is_named(case):
    assert answer(case).code == case.cause
    assert case.url.startswith("https://")


@pytest.mark.parametrize("prefix", FRAMES.values(), ids=FRAMES)
def test_a_logger_before_it_changes_nothing(prefix):
    lines = framed_lines()
    assert len(lines) > 50
    assert [(code, line) for code, line in lines if told(prefix + line).code != code] == []


def test_json_around_it_changes_nothing():
    def in_json(line):
        return json.dumps({"level": "ERROR", "fields": {"message": f"{TRACEBACK}{line}"}})

    assert [line for code, line in framed_lines() if told(in_json(line)).code != code] == []
