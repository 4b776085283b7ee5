"""What is known of an engine's versions: whether it is recent, and which versions stand for one that is not known."""

import csv

import pytest

from inferstack.catalog import text
from inferstack.engines import tables
from inferstack.engines.architectures import newest_version
from inferstack.engines.engine import ENGINES
from inferstack.engines.tables import look, numbers

TABLES = ("sglang", "tei", "tgi", "vllm")
LARGEST = 100_000


def test_no_image_has_an_engine_that_is_newer_than_its_table() -> None:
    for row in csv.DictReader(text("image-contents.csv").splitlines()):
        engine = ENGINES.get(row["engine"])
        if engine is not None and engine.table is not None and row["engine_version"]:
            known = numbers(tables.newest(engine.table))
            # vLLM's third number is for corrections only.
            assert numbers(row["engine_version"])[: len(known)] <= known, (
                f"{row['tag_begins']} is newer: `python -m tools.generate engines` with its wheel in build/"
            )


def test_the_architectures_are_as_recent_as_the_options() -> None:
    newest = numbers(newest_version())
    assert numbers(tables.newest("vllm"))[: len(newest)] <= newest, (
        "`python -m tools.generate architectures` with the wheels of vLLM and Transformers in build/"
    )


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_small(table: str) -> None:
    assert (tables._FOLDER / f"{table}.json").stat().st_size <= LARGEST


@pytest.mark.parametrize(
    ("engine", "version", "said"),
    [
        ("vllm", "0.27.1", "0.27.1"),
        ("vllm", "0.22.1rc0", "0.22.1rc0"),
        ("vllm", "0.31.0", "0.31.0 (judged by 0.30 and 0.33)"),
        ("vllm", "0.99.0", "0.99.0 (judged by 0.33)"),
        ("sglang", "0.5.12", "0.5.12"),
        ("sglang", "0.5.21", "0.5.21 (judged by 0.5.20 and 0.5.23)"),
        ("tgi", "3.3.6", "3.3.6"),
    ],
)
def test_which_versions_are_looked_at(engine: str, version: str, said: str) -> None:
    found = look(engine, version)
    assert found is not None
    assert found.said == said


@pytest.mark.parametrize("version", ["0.12.0", "0.6.3", "b9522", ""])
def test_nothing_is_said_of_what_is_older_or_no_version(version: str) -> None:
    assert look("vllm", version) is None


def test_two_neighbors_must_agree() -> None:
    both = look("vllm", "0.31.0")
    assert both is not None
    # 0.33 alone accepts "none", and alone has the twin.
    assert both.refusal("reasoning-parser", ["none"]) is None
    assert both.options("disable-prefix-caching")
    assert both.refusal("max-num-seqs", ["0"]) == "allowed: a whole number, at least 1"
    assert both.options("swap-space") == ()


def test_a_parser_needs_the_beginning_of_a_name_only() -> None:
    found = look("vllm", "0.30.0")
    assert found is not None
    assert found.meant_by("max-model-l") == ("max-model-len",)
    assert found.meant_by("no-enable-prefix-c") == ("no-enable-prefix-caching",)
    assert set(found.meant_by("max-num")) > {"max-num-seqs", "max-num-batched-tokens"}
    assert found.meant_by("max-sequences") == ()
    # An exact name counts, whatever else begins with it.
    assert found.meant_by("model") == ("model",)
