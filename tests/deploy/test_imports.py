"""Every shape of endpoint, made by somebody else: written as a spec, and taken over by a stack that changes nothing."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader
from emulator.clients import EmulatedAws
from emulator.inventory import inventory
from support.deployed import give, left_alone

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.resolve.template import template_of

ROOT = Path(__file__).parents[2]
FILES = {
    it.stem: it for folder in ("tests/shapes", "model_specs") for it in sorted((ROOT / folder).glob("*.yaml"))
}
GIVEN: dict[str, dict[str, Any]] = {
    "elsewhere": {
        "exported": {
            "elsewhere-bucket": "acme-models",
            "elsewhere-dumps": "acme-dumps",
            "elsewhere-key": "arn:aws:kms:us-east-1:123456789012:key/1",
            "elsewhere-subnets": "subnet-0a1b2c3d,subnet-0a1b2c3e",
            "elsewhere-topic": "arn:aws:sns:us-east-1:123456789012:oncall",
        },
        "stored": {
            "/teams/ranking": "ranking",
            "/images/ranker": "123456789012.dkr.ecr.us-east-1.amazonaws.com/ranker:1",
            "/features/table": "features",
            "/buckets/captured": "acme-captured",
            "/keys/models": "1",
            "/ops/topics": "arn:aws:sns:us-east-1:123456789012:ops,arn:aws:sns:us-east-1:123456789012:night",
        },
        "roles": ["web-backend"],
    },
    "existing-models": {
        "stored": {"/models/ranker": "ranker-1"},
        "models": ["ranker-1", "ranker-2026-11-20"],
    },
}
LEFT_OUT = {
    "asynchronous-made": ["the composite alarm dubbing-sick"],
    "existing-models": [
        f"the model {name}, which has another role or none: the spec only names it"
        for name in ("ranker-1", "ranker-2026-11-20")
    ],
}


@pytest.fixture(scope="module", autouse=True)
def _descriptions_are_read_once() -> Iterator[None]:
    """boto3 reads its descriptions of services once, and each command makes a few clients."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", staticmethod(cache(JSONFileLoader().load_file)))
        yield


@pytest.mark.parametrize("name", FILES)
def test_it_is_imported_and_the_next_deployment_changes_nothing(
    aws: EmulatedAws,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    loaded = load_spec(FILES[name], region=aws.region)
    endpoint, account = loaded.spec.endpoint_name, EmulatedAws(aws.url, loaded.spec.region or aws.region)
    for variable, value in account.environment().items():
        monkeypatch.setenv(variable, value)
    give(account, "given", **GIVEN.get(name, {}))
    left_alone(account, template_of(loaded), endpoint)
    there = inventory(account)
    spec = str(tmp_path / "spec.yaml")

    assert main(["import", endpoint, "--spec", spec]) == 0, capsys.readouterr().err
    said = capsys.readouterr().err.splitlines()
    assert said[:-1] == [f"{spec}: left out: {it}" for it in LEFT_OUT.get(name, [])]
    assert main(["validate", spec]) == 0, capsys.readouterr().out
    assert main(["import", endpoint, "--change-set", spec, "--yes"]) == 0, capsys.readouterr().err
    said = capsys.readouterr().err.splitlines()
    assert f"no stack has {endpoint}; what Terraform has in its state has to leave that first" in said
    assert "the next deployment changes nothing" in said[-1]
    assert inventory(account) == there
    assert main(["drift", spec]) == 0, capsys.readouterr().out
