"""The cases of `triton/wrong_models/*.txt`: a wrong model, and the right one beside it.

A case is the `triton` block of two specs at once:

    == the least is above the most        the case's title
    head: {image: "24.09"}                what differs from the usual spec, if anything
      models:                             lines of both
    -    m: {max_batch_size: 4}           a line of the right one
    +    m: {max_batch_size: -1}          a line of the wrong one

`$IO` and the like stand for the texts in `MACROS`. `# <- IS922 m.max_batch_size` says what must be reported for the
wrong one, and the end of its path in the spec; at the end of a line, also that it must be reported for this line.
Nothing else may be reported, and nothing at all for the right one.

From the cases, `tools/code_examples.py` makes what `inferstack explain` shows: the one with `===` before its title,
or else the shortest of a code. Macros that both sides have are left out there, so they hold what does not matter.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "triton" / "wrong_models"
TENSOR = "data_type: TYPE_FP32, dims: [1]"
STEPS = (
    "ensemble_scheduling: {step: [{model_name: m, model_version: -1, input_map: {X: A}, output_map: {Y: B}}]}"
)
MACROS = {
    "$IO": f"input: [{{name: X, {TENSOR}}}], output: [{{name: Y, {TENSOR}}}]",
    "$IN": f"input: [{{name: X, {TENSOR}}}]",
    "$OUT": f"output: [{{name: Y, {TENSOR}}}]",
    "$T_IO": f"input: [{{name: INPUT__0, {TENSOR}}}], output: [{{name: OUTPUT__0, {TENSOR}}}]",
    "$T_OUT": f"output: [{{name: OUTPUT__0, {TENSOR}}}]",
    "$E_IO": f"input: [{{name: A, {TENSOR}}}]",
    "$E_OUT": f"output: [{{name: B, {TENSOR}}}]",
    "$E_OUTS": f"output: [{{name: B, {TENSOR}}}, {{name: C, {TENSOR}}}]",
    "$LATEST": "model_version: -1",
    "$PY": "backend: python, files: {1/model.py: model.py}",
    "$TORCH": "platform: pytorch_libtorch, files: {1/model.pt: m.pt}, parameters: {DISABLE_OPTIMIZED_EXECUTION: true}",
    "$STEPS": STEPS,
    "$STEP": f"{STEPS}, input: [{{name: A, {TENSOR}}}], output: [{{name: B, {TENSOR}}}]",
    "$ENSEMBLE": f"platform: ensemble, {STEPS}, input: [{{name: A, {TENSOR}}}], output: [{{name: B, {TENSOR}}}]",
}
USUAL = {"kind": "single-model", "image": "26.05", "instance": "ml.c6i.xlarge", "environment": {}}
_MARK = re.compile(r"# <- (IS\d{3}) (\S+)")


@dataclass(frozen=True)
class Case:
    title: str
    is_shown: bool
    lines: tuple[str, ...]

    def spec(self, *, wrong: bool) -> str:
        """The whole spec, with its `triton` block at the end."""
        top = yaml.safe_dump(spec_without_triton(self.head(wrong=wrong)), sort_keys=False)
        return expand(f"{top}triton:\n{self.block(wrong=wrong)}", MACROS)

    def head(self, *, wrong: bool) -> dict[str, Any]:
        """What differs from the usual spec."""
        heads = [line for line in self._side(wrong) if _is_head(line)]
        return yaml.safe_load(heads[0])["head"] if heads else {}

    def block(self, *, wrong: bool) -> str:
        """What is below `triton`, as written in the case."""
        return "".join(f"{line}\n" for line in self._side(wrong) if not _is_head(line))

    def _side(self, wrong: bool) -> list[str]:
        return [it[1:] if it[0] in "+-" else it for it in self.lines if it[0] != "+-"[wrong]]


def _is_head(line: str) -> bool:
    return line.strip().startswith("head:")


def expand(text: str, macros: Mapping[str, str]) -> str:
    return re.sub(r"\$[A-Z_]+\b", lambda found: macros.get(found[0], found[0]), text)


def spec_without_triton(change: Mapping[str, Any]) -> dict[str, Any]:
    values = {**USUAL, **change}
    image, many = values["image"], values["kind"] == "multi-model"
    return {
        "kind": values["kind"],
        "endpoint_name": "e",
        "model": {
            "image": image if "/" in image else {"framework": "triton", "version": image},
            "model_data_url": "s3://models/m/" if many else "s3://models/m/model.tar.gz",
            "environment": values["environment"],
        },
        "variant": {"instance_type": values["instance"], "initial_instance_count": 2},
    }


def cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.txt")):
        for part in f"\n{file.read_text('utf-8')}".split("\n==")[1:]:
            title, *lines = part.splitlines()
            yield Case(
                title.lstrip("= "), title.startswith("="), tuple(line for line in lines if line.strip())
            )


def expected(text: str) -> list[tuple[str, str, int | None]]:
    """Code, end of the path, and the line if the mark is at the end of one."""
    return [
        (mark[1], mark[2], None if line.lstrip().startswith("#") else number)
        for number, line in enumerate(text.splitlines(), start=1)
        for mark in _MARK.finditer(line)
    ]


CASES = list(cases())
