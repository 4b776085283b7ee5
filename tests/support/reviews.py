"""Reviews of the examples, and of changes to them, as people and programs get them."""

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from inferstack.cli.review import as_json
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.review import Review, review

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "model_specs"
FOLDER = ROOT / "tests" / "review" / "reviews"
PRICES = ROOT / "tests" / "review" / "review_prices.json"
REGION = "us-east-1"


@dataclass(frozen=True)
class Case:
    """A spec before and after a change."""

    title: str
    spec: str
    base: Mapping[str, Any] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict)
    is_new: bool = False
    is_gone: bool = False

    @property
    def name(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def review(self) -> Review:
        """The review of the change, made in a folder of its own."""
        with working_folder() as folder:
            whole = yaml.safe_load((EXAMPLES / f"{self.spec}.yaml").read_text("utf-8"))
            before = merged(whole, dict(self.base))
            for name, data in (("base", before), ("model_specs", merged(before, dict(self.head)))):
                is_there = not (self.is_new if name == "base" else self.is_gone)
                (folder / name).mkdir(exist_ok=True)
                write_spec(folder / name / "other.yaml", OTHER)
                if is_there:
                    write_spec(folder / name / f"{self.spec}.yaml", data)
            return review("model_specs", "base", region=REGION, prices=PRICES)


OTHER: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "other",
    "model": {
        "image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1",
        "model_data_url": "s3://models/a.tar.gz",
    },
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 1},
}
"""The spec that stays as it is beside the one under review."""


def write_spec(path: Path, data: Any) -> None:
    path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), "utf-8")


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """A working directory with the files beside the examples, but none of the examples."""
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(made):
        folder = Path(made).resolve()
        for name in ("model_specs", "base"):
            shutil.copytree(EXAMPLES, folder / name, ignore=shutil.ignore_patterns("*.yaml", "*.yml"))
        yield folder


def merged(base: Any, change: Any) -> Any:
    """A spec with a change merged in, where None removes a key."""
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    both = {key: merged(base.get(key), value) for key, value in change.items()}
    return {key: value for key, value in {**base, **both}.items() if value is not None}


CASES = [Case(**it) for it in yaml.safe_load((ROOT / "tests/review/review_pairs.yaml").read_text("utf-8"))]


def example_review(name: str) -> Review:
    with contextlib.chdir(ROOT):
        return review(f"model_specs/{name}.yaml", region=REGION, prices=PRICES)


def all_examples() -> Review:
    with contextlib.chdir(ROOT):
        return review("model_specs", region=REGION, prices=PRICES)


def all_shapes() -> Review:
    with contextlib.chdir(ROOT):
        return review("tests/shapes", region=REGION, prices=PRICES)


def golden() -> dict[Path, str]:
    """Every review that is committed: what the tests compare with, and people read."""
    made: dict[Path, str] = {}
    for file in sorted(EXAMPLES.glob("*.yaml")):
        made[FOLDER / f"example-{file.stem}.txt"] = text(example_review(file.stem))
    everything = all_examples()
    made[FOLDER / "examples.md"] = markdown(everything)
    made[FOLDER / "examples.txt"] = text(everything)
    # With places and texts that no other form of all the examples has.
    made[FOLDER / "examples.json"] = as_json(everything)
    made[FOLDER / "shapes.txt"] = text(all_shapes())
    for case in CASES:
        found = case.review()
        made[FOLDER / f"{case.name}.txt"] = text(found)
        made[FOLDER / f"{case.name}.md"] = markdown(found)
    return made


def in_json(found: Review) -> Any:
    return json.loads(as_json(found))
