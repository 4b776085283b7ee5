"""Every example, at every stage, in one region and in any: what AWS's own checkers report about its template."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from support.strict_walk import api_problems
from support.validators import cfn_lint_findings, validate_findings

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.format import ModelSpec
from inferstack.format.logical_ids import SOURCE_METADATA
from inferstack.resolve import resolve_template
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names, uses_stage
from inferstack_stacks import EndpointStack

ROOT = Path(__file__).parents[2]
Case = tuple[Path, str | None, str | None]


def cases() -> Iterator[Case]:
    for file in sorted((ROOT / "model_specs").glob("*.y*ml")):
        document = read_document(file)
        stages = stage_names(document)
        for stage in stages if stages and uses_stage(document) else (None, *stages):
            yield file, stage, "us-east-1"
            yield file, stage, None
    for example in ("assistants", "large-chat", "search"):
        yield ROOT / "docs" / "examples" / example / f"{example}.yaml", None, "us-east-1"


def name_of(case: Case) -> str:
    file, stage, region = case
    return "-".join([file.stem, stage or "base", region or "anywhere"])


@pytest.fixture(params=cases(), ids=name_of)
def loaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> LoadedSpec:
    file, stage, region = request.param
    monkeypatch.chdir(ROOT)
    return load_spec(file.relative_to(ROOT), stage=stage, region=region)


def resolved(loaded: LoadedSpec) -> dict[str, Any]:
    region = None if loaded.spec.env is None else loaded.spec.env.region
    return resolve_template(loaded.spec, region=region, source_of=loaded.source_of)


def synthesised(loaded: LoadedSpec) -> str:
    stack = EndpointStack(cdk.App(), "Stack", spec=loaded)
    assembly = cdk.App.of(stack).synth()
    return Path(assembly.get_stack_artifact(stack.artifact_id).template_full_path).read_text()


def test_cloudformation_validate_finds_nothing(loaded):
    assert validate_findings(resolved(loaded)) == []


def test_cfn_lint_finds_nothing(loaded):
    assert cfn_lint_findings(resolved(loaded)) == []


def test_the_api_would_take_every_property(loaded):
    assert api_problems(resolved(loaded)) == []


def test_cdk_writes_what_resolve_says_and_always_the_same_bytes(loaded):
    written, expected = synthesised(loaded), resolved(loaded)
    found = json.loads(written)
    assert found.keys() == expected.keys()
    assert found["Resources"].keys() == expected["Resources"].keys()
    for logical_id, resource in expected["Resources"].items():
        assert found["Resources"][logical_id] == resource, logical_id
    assert found == expected
    assert written == synthesised(loaded)
    assert json.dumps(expected) == json.dumps(resolved(loaded))


def test_every_resource_names_the_block_that_it_comes_from(loaded):
    blocks = set(ModelSpec.__struct_fields__) | set(type(loaded.spec).__struct_fields__)
    for logical_id, resource in resolved(loaded)["Resources"].items():
        file, _, path = resource["Metadata"][SOURCE_METADATA].rpartition(": ")
        assert file == loaded.document.file, logical_id
        assert path.partition(".")[0] in blocks, logical_id


# ---------------------------------------------------------------- the checkers do find something


def broken(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    loaded = load_spec(ROOT / "model_specs/travel-chat.yaml", region="us-east-1")
    template = copy.deepcopy(resolved(loaded))
    change(template["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"][0])
    return template


BREAKAGES = {
    "a wrong enum": lambda variant: variant.update(InstanceType="ml.g5.huge"),
    "an unknown property": lambda variant: variant.update(InstanceTyp="ml.g5.xlarge"),
    "a wrong type": lambda variant: variant.update(RoutingConfig="RANDOM"),
    "a missing property": lambda variant: variant.pop("VariantName"),
    "a bound": lambda variant: variant.update(ContainerStartupHealthCheckTimeoutInSeconds=3601),
    "a pattern": lambda variant: variant.update(VariantName="a_b"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_the_walk_over_the_api_finds(breakage):
    assert len(api_problems(broken(BREAKAGES[breakage]))) == 1


@pytest.mark.parametrize("checker", [validate_findings, cfn_lint_findings])
@pytest.mark.parametrize("breakage", ["a wrong enum", "an unknown property", "a wrong type", "a bound"])
def test_the_validators_find(checker, breakage):
    assert checker(broken(BREAKAGES[breakage])) != []
