"""Asks the parser of vLLM itself, from a wheel, which words it accepts after ``vllm serve``.

``python -m tools.vllm_parser WHEEL`` reads a JSON list of words from each line, and answers each by ``true``
or ``false``: whether the parser takes them, and the fields of vLLM's configuration the values. ``generate``
records some of it for tests, which compare it with what `engines` accepts; with a wheel in build/, all of it:

    pip download --no-deps --dest build vllm==0.33.0
"""

import contextlib
import io
import json
import os
import random
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter

from inferstack.engines.tables import KnownOptions, look
from tools.engine_tables import BUILD
from tools.generated_files import ROOT, Contents
from tools.stubbed_imports import stub_imports

RECORDED = ROOT / "tests" / "engines" / "vllm_command_lines.jsonl"
FETCH = "pip download --no-deps --dest build vllm==0.33.0"
_ASKED, _OF_EACH = 2000, 40
"""Of how many lines of a version are recorded how many that it accepts, and how many that it refuses."""
VALUES = (
    *(
        "",
        "0",
        "1",
        "-1",
        "8",
        "1.5",
        "abc",
        "true",
        "False",
        "auto",
        "AUTO",
        "8k",
        "2K",
        "1.5k",
        "1.5K",
        "{}",
    ),
    *('{"a":1}', '{"a":', '{"a": 2k}', "[1]", '["a"]', "[]", "None", "none", "nan", "inf", "1e3", "- x"),
    *("--foo", "-x", "a b", "fp8", "float16", "half", "1_000", " 8 ", "0.9", "1" + 20 * "0", "-1k", "null"),
)
_SEVERAL = ((), ("a", "b"), ("1", "2"), ("1", "x"))
_NOT_ASKED = frozenset(
    {
        # The first ends the parser, the others read a file.
        *("help", "config", "logging-config"),
        # Their words are registered elsewhere, and compared after the parser has run.
        *(
            "attention-backend",
            "mm-processor-device",
            "quantization",
            "reasoning-parser",
            "tool-call-parser",
            "spec-tokens",
        ),
        # Actions of their own read the values: names with paths, and sets of words.
        *("lora-modules", "collect-detailed-traces"),
    }
)
# Of C++ and CUDA, or for them.
STUBBED = ("vllm.ir", "vllm.kernels", "vllm._C", "vllm._moe_C")
_MODULES = tuple(f"vllm.entrypoints.{it}.cli_args" for it in ("common", "launchers", "openai"))


def command_lines(known: KnownOptions) -> Iterator[tuple[str, ...]]:
    """Every option of a version with every kind of value, and beginnings of its name."""
    for name in (it for it in known.names() if it not in _NOT_ASKED):
        [*_, option] = known.options(name)
        for words in (*((value,) for value in (*VALUES, *option.choices)), *_SEVERAL):
            # Which keys an object may have is not known here.
            if option.kind != "object" or ":" not in "".join(words):
                yield (f"--{name}", *words)
        for name_or_twin in (name, *([f"no-{name}"] if option.kind == "flag" else [])):
            yield from ((f"--{name_or_twin[:end]}",) for end in range(3, len(name_or_twin)))
            yield from ((f"--{name_or_twin}s",), (f"--{name_or_twin}", "true"))


def accepted(known: KnownOptions, line: Sequence[str]) -> bool:
    """Whether a line of :func:`command_lines` is accepted by what is known of the version."""
    meant = known.meant_by(line[0].removeprefix("--"))
    return len(meant) == 1 and known.refusal(meant[0], line[1:]) is None


def judged(wheel: Path, lines: Sequence[Sequence[str]]) -> list[bool]:
    """Whether the parser in a wheel accepts each of the lines."""
    return answers_of("tools.vllm_parser", [wheel], lines)


def answers_of(module: str, words: Sequence[Path], lines: Sequence[Sequence[str]]) -> list[bool]:
    """What a module that answers each line says to them, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        cwd=ROOT,
        env={**os.environ, "VLLM_LOGGING_LEVEL": "ERROR"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(it) for it in done.stdout.splitlines()]


def wheels() -> Mapping[str, Path]:
    """The wheels in build/, by their version."""
    return {it.name.split("-")[1]: it for it in sorted(BUILD.glob("vllm-*.whl"))}


def generate() -> Contents:
    """What the parsers of the wheels in build/ accept, of some lines that are chosen at random."""
    return {RECORDED: "".join(f"{json.dumps(row)}\n" for row in _rows())}


def _rows() -> Iterator[tuple[str, bool, Sequence[str]]]:
    for version, wheel in wheels().items():
        known = look("vllm", version)
        assert known is not None
        lines = random.Random(version).sample([*dict.fromkeys(command_lines(known))], _ASKED)
        answers = judged(wheel, lines)
        for answer in (True, False):
            such = [line for line, it in zip(lines, answers, strict=True) if it == answer]
            # Most lines are accepted or refused for one reason, such as a beginning of a name.
            chosen = random.Random(version).sample(sorted(such), _OF_EACH)
            yield from ((version, answer, line) for line in chosen)


# ---------------------------------------------------------------- in a process of its own


def _main(wheel: str) -> None:
    stub_imports("vllm", STUBBED)
    sys.path.insert(0, wheel)
    with contextlib.redirect_stdout(sys.stderr):
        parser, fields = _parser()
    for line in sys.stdin:
        print(json.dumps(_takes(parser, fields, json.loads(line))), flush=True)


def imported(module: str) -> Any:
    """A module of vLLM's, on what seems to be a machine without a GPU."""
    cpu = import_module("vllm.platforms.cpu").CpuPlatform()
    import_module("vllm.platforms").__dict__["_current_platform"] = cpu
    return import_module(module)


def _parser() -> tuple[ArgumentParser, Mapping[str, Any]]:
    """vLLM's parser, and a check of each field that it made an argument of."""
    arg_utils = imported("vllm.engine.arg_utils")
    parser_class = imported("vllm.utils.argparse_utils").FlexibleArgumentParser
    fields: dict[str, Any] = {}
    # -1 stands for `auto`, which is another number by the time that the field gets it.
    replaced = {"max_model_len"} if hasattr(arg_utils, "human_readable_int_or_auto") else set()
    arguments_of: Callable[[Any], Any] = arg_utils.get_kwargs

    def noting(owner: Any) -> Any:
        for name, it in getattr(owner, "__pydantic_fields__", {}).items():
            if it.metadata and not it.init_var and name not in replaced:
                fields[name] = TypeAdapter(Annotated[it.annotation, *it.metadata])  # type: ignore[arg-type]
        return arguments_of(owner)

    arg_utils.get_kwargs = noting
    for module in _MODULES:
        with contextlib.suppress(ModuleNotFoundError):
            made: ArgumentParser = import_module(module).make_arg_parser(parser_class())
            return made, fields
    raise LookupError("no module makes a parser of arguments")


def _takes(parser: ArgumentParser, fields: Mapping[str, Any], words: list[str]) -> bool:
    silence = io.StringIO()
    with contextlib.redirect_stderr(silence), contextlib.redirect_stdout(silence):
        try:
            found = parser.parse_args(words, Namespace())
            # A word that no option takes becomes the model's name, which a container gives by an option.
            if getattr(found, "model_tag", None) is not None:
                return False
            for name, it in vars(found).items():
                if name in fields and it != parser.get_default(name):
                    fields[name].validate_python(it)
        except (SystemExit, Exception):
            return False
    return True


if __name__ == "__main__":
    _main(sys.argv[1])
