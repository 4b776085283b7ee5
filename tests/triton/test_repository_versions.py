"""Which versions of a model there are, and which of them are loaded."""

from pathlib import Path

import pytest
from support.archiving import CONFIG, MODEL, lay_out

from inferstack.check.load import parse_spec
from inferstack.triton.folders import read_repository
from inferstack.triton.model import is_version, loaded_versions, version_folders
from inferstack.triton.repositories import repositories_of


@pytest.mark.parametrize(
    ("files", "versions"),
    [
        ("{}", ("1",)),
        ("{labels.txt: labels.txt}", ("1",)),
        ("{3/model.py: a}", ("3",)),
        ("{10/model.py: a, 9/model.py: b, 9/data: c}", ("9", "10")),
        ("{warmup/x: a, 2/model.py: b}", ("2",)),
    ],
)
def test_versions_follow_from_the_files(files: str, versions: tuple[str, ...]) -> None:
    spec = parse_spec(
        {
            "kind": "single-model",
            "endpoint_name": "e",
            "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/a:1"},
            "variant": {"instance_type": "ml.c6i.xlarge", "initial_instance_count": 1},
            "triton": {"models": {"m": {"backend": "x", "files": _mapping(files)}}},
        }
    ).spec
    (repository,) = repositories_of(spec, Path())
    assert repository.models[0].versions == versions


def _mapping(text: str) -> dict[str, str]:
    pairs = (pair.split(": ") for pair in text.strip("{}").split(", ") if pair)
    return dict(pairs)


def test_versions_are_plain_numbers_in_order() -> None:
    assert version_folders(["10", "9", "01", "v2", "0", "warmup", "-1", "1a"]) == ("0", "9", "10")
    assert not is_version("²")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", ("3",)),
        ("version_policy { }", ("1", "2", "3")),
        ("version_policy { all { } }", ("1", "2", "3")),
        ("version_policy { latest { num_versions: 2 } }", ("2", "3")),
        ("version_policy { latest { num_versions: 9 } }", ("1", "2", "3")),
        ("version_policy { latest { } }", ()),
        ("version_policy { specific { versions: 2 versions: 5 } }", ("2",)),
    ],
)
def test_a_policy_chooses_the_versions(tmp_path: Path, policy: str, expected: tuple[str, ...]) -> None:
    (model,) = read_repository(lay_out(tmp_path, {**MODEL, "net/config.pbtxt": f"{CONFIG}{policy}"})).models
    assert loaded_versions(model.config, ("1", "2", "3")) == expected
