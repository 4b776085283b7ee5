"""The spec of each guide is deployed as it promises."""

from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, failures
from support.pages import files
from support.promises import broken_promises

from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("guide", sorted((DOCS / "guides").glob("*.md")), ids=lambda it: it.stem)
def test_the_spec_of_a_guide_is_deployed(
    aws: EmulatedAws, guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (spec,) = (content for name, content in files(guide).items() if name.endswith(".yaml"))
    Path("spec.yaml").write_text(spec, "utf-8")
    loaded = load_spec(Path("spec.yaml"), region=aws.region)
    template = resolve_template(loaded.spec, region=aws.region, source_of=loaded.source_of)
    assert (deploy(aws, "stack", template), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    assert broken_promises(aws, loaded.spec) == []
