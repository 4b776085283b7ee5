"""Asks the class with which LMI reads its options, from a clone, which values it accepts.

``python -m tools.lmi_properties CLONE WHEEL`` reads an option and its value, as a JSON list, from each line,
and answers each by ``true`` or ``false``. ``generate`` records some of it for tests, from build/:

    git clone https://github.com/deepjavalibrary/djl-serving build/djl-serving
    pip download --no-deps --dest build vllm==0.26.0
"""

import contextlib
import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from inferstack.engines.lmi import CALLED, LMI_OPTIONS, PASSED_ON
from inferstack.engines.tables import look
from tools import vllm_parser
from tools.engine_tables import BUILD
from tools.generated_files import ROOT, Contents
from tools.stubbed_imports import stub_imports
from tools.vllm_parser import STUBBED, VALUES, answers_of, imported, wheels

RECORDED = ROOT / "tests" / "engines" / "lmi_options.jsonl"
CLONE = BUILD / "djl-serving"
VLLM = "0.26.0"
"""What LMI 28 has inside."""
_ASKED, _OF_EACH = 1500, 80
_PACKAGE = "engines/python/setup/djl_python"
# The Java server reads them, or fills them in, before this class gets any option.
_NOT_ASKED = frozenset({"engine", "model_id", "model_dir", "model", "entrypoint", "tensor_parallel_degree"})
_JUDGED_LATER = frozenset(
    {
        # What loads the model reads their words; this class takes any.
        *("attention_backend", "collect_detailed_traces", "input_formatter", "quantization", "quantize"),
        *("reasoning_parser", "rolling_batch", "task", "tool_call_parser"),
        # A field of `EngineArgs` without an argument there: the server makes it.
        "tokens_only",
        # Of an older vLLM.
        "long_lora_scaling_factors",
    }
)


def lines() -> Iterator[tuple[str, str]]:
    """Every option that LMI has itself or passes on, with every kind of value."""
    known = look("vllm", VLLM)
    assert known is not None
    passed_on = (it.replace("-", "_") for it in known.names() if not known.options(it)[-1].server)
    for option in dict.fromkeys([*LMI_OPTIONS, *CALLED, *passed_on]):
        of_vllm = known.options(PASSED_ON.get(option, option).replace("_", "-"))
        it = LMI_OPTIONS.get(option) or (*of_vllm, None)[0]
        # Bounds are vLLM's, which looks at them later.
        is_bound = any((one.least, one.above, one.most, one.below) != (None,) * 4 for one in of_vllm)
        if option not in _NOT_ASKED | _JUDGED_LATER and not is_bound:
            is_object = it is not None and it.kind == "object"
            values = dict.fromkeys((*VALUES, *(it.choices if it is not None else ())))
            # The server skips what is empty. Which keys an object may have is not known here.
            yield from ((option, value) for value in values if value and not (is_object and ":" in value))


def judged(asked: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether the class in build/ accepts each option with its value."""
    return answers_of("tools.lmi_properties", [CLONE, wheels()[VLLM]], asked)


def generate() -> Contents:
    """What the class in build/ and vLLM's parsers accept, of some options that are chosen at random."""
    return {**vllm_parser.generate(), RECORDED: "".join(f"{json.dumps(row)}\n" for row in _rows())}


def _rows() -> Iterator[tuple[bool, tuple[str, str]]]:
    asked = random.Random(VLLM).sample([*lines()], _ASKED)
    answers = judged(asked)
    for answer in (True, False):
        such = [line for line, it in zip(asked, answers, strict=True) if it == answer]
        yield from ((answer, line) for line in random.Random(VLLM).sample(such, _OF_EACH))


def _main(clone: str, wheel: str) -> None:
    stub_imports("vllm", STUBBED)
    # Without its `__init__`, which needs more than this class.
    package = ModuleType("djl_python")
    package.__path__ = [str(Path(clone, _PACKAGE))]
    sys.modules["djl_python"] = package
    sys.path.insert(0, wheel)
    with contextlib.redirect_stdout(sys.stderr):
        own = imported("djl_python.properties_manager.vllm_rb_properties")
        # It makes the same parser for each model, which takes longer than everything else.
        arguments = own.AsyncEngineArgs
        made = arguments.add_cli_args(own.FlexibleArgumentParser())
        arguments.add_cli_args = staticmethod(lambda _: made)
    for line in sys.stdin:
        print(json.dumps(_takes(own.VllmRbProperties, *json.loads(line))), flush=True)


def _takes(properties: type, option: str, value: str) -> bool:
    silence = io.StringIO()
    said = {"engine": "Python", "model_id": "m", "model_dir": "/opt/ml/model", option: value}
    with contextlib.redirect_stderr(silence), contextlib.redirect_stdout(silence):
        try:
            properties(**said).get_engine_args(async_engine=True)
        except (SystemExit, Exception):
            return False
    return True


if __name__ == "__main__":
    _main(*sys.argv[1:])
