"""How preflight goes through specs: their stages, accounts and regions, and what it prints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import ready_account as w
from support.answers import Answers, Refused

Preflight = Callable[..., tuple[int, Any]]
STAGED = w.SPEC.replace("endpoint_name: churn", "endpoint_name: churn-${stage}") + (
    "stages:\n  test: {variant: {initial_instance_count: 1}}\n  prod: {variant: {initial_instance_count: 3}}\n"
)


def _found(said: Any, check: str) -> list[Any]:
    return [it for it in json.loads(said.out) if it["check"] == check]


def test_each_line_has_its_place_and_what_is_wrong_its_fix(ready: Answers, preflight: Preflight) -> None:
    ready.given["HeadObject"] = Refused("404", "Not Found", 404)
    status, said = preflight("churn.yaml")
    assert status == 1
    first, *_ = said.out.splitlines()
    assert first == f"ok           credentials  account {w.ACCOUNT}, us-east-1"
    line = next(it for it in said.out.splitlines() if " files " in it)
    assert line == (
        "problem      files        churn.yaml:6: s3://acme-models/churn/model.tar.gz is not there; upload it,"
        " such as with `inferstack package --upload`, or correct the URL"
    )
    assert said.err == "10 ok, 1 problem\n"


def test_all_specs_and_stages_of_an_account_share_its_quotas(ready: Answers, preflight: Preflight) -> None:
    Path("churn.yaml").write_text(STAGED)
    Path("more.yaml").write_text(w.SPEC.replace("endpoint_name: churn", "endpoint_name: more"))
    status, said = preflight("churn.yaml", "more.yaml", "--format", "json")
    [quota] = _found(said, "quota")
    assert status == 1
    assert (
        "`churn-test`, `churn-prod` and `more` may need 6; ask for 6" in f"{quota['message']}; {quota['fix']}"
    )
    assert len(_found(said, "role")) == 2, "the stages name one role at one place"
    assert len(_found(said, "credentials")) == 1, "they are those of one account"
    [quota] = _found(preflight("churn.yaml", "--stage", "prod", "--format", "json")[1], "quota")
    assert quota["message"].endswith("`churn-prod` may need 3")


def test_a_stack_that_two_stages_make_counts_once(ready: Answers, preflight: Preflight) -> None:
    Path("churn.yaml").write_text(
        w.SPEC + "stages:\n  prod: {variant: {initial_instance_count: 3}}\n  test: {tags: {Stage: test}}\n"
    )
    [quota] = _found(preflight("churn.yaml", "--format", "json")[1], "quota")
    assert quota["message"].endswith("`churn` may need 3")


def test_each_question_is_put_once(ready: Answers, preflight: Preflight) -> None:
    Path("churn.yaml").write_text(STAGED)
    preflight("churn.yaml")
    assert [it for it, _ in ready.asked].count("ListServiceQuotas") == 1
    assert [it for it, _ in ready.asked].count("HeadObject") == 1


def test_after_the_credentials_have_expired_nothing_is_asked_any_more(
    ready: Answers, preflight: Preflight
) -> None:
    ready.given["HeadObject"] = Refused("ExpiredToken", "The provided token has expired.")
    status, said = preflight("churn.yaml", "--format", "json")
    assert status == 3
    assert [it["state"] for it in _found(said, "quota")] == ["ok"]
    assert ready.asked[-1][0] == "HeadObject"
    for check in ("files", "image", "role", "stack", "name"):
        assert {it["state"] for it in _found(said, check)} == {"cannot tell"}, check
        assert "log in again" in _found(said, check)[0]["fix"]


def test_one_region_is_asked_as_the_other_is_not_enabled(ready: Answers, preflight: Preflight) -> None:
    Path("chat.yaml").write_text(w.COMPONENTS.replace("us-east-1", "eu-south-2"))
    refused = Refused("InvalidClientTokenId", "The security token is invalid", 403)
    ready.given["GetCallerIdentity"] = [{"Account": w.ACCOUNT}, refused]
    status, said = preflight("churn.yaml", "chat.yaml", "--format", "json")
    states = {(it["endpoint"], it["check"]): it["state"] for it in json.loads(said.out)}
    assert status == 1
    assert states["chat", "credentials"] == "problem"
    assert states["chat", "the rest"] == "cannot tell"
    assert states["churn", "quota"] == "ok"


def test_without_a_region_nothing_can_be_asked(
    ready: Answers, preflight: Preflight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION")
    Path("churn.yaml").write_text(w.SPEC.replace(", region: us-east-1", ""))
    status, said = preflight("churn.yaml", "--format", "json")
    assert status == 1
    assert _found(said, "region")[0]["message"] == "no region is named"
    assert preflight("churn.yaml", "--region", "us-east-1")[0] == 0


def test_a_spec_with_errors_is_reported_and_nothing_is_asked(ready: Answers, preflight: Preflight) -> None:
    Path("churn.yaml").write_text(w.SPEC.replace("ml.g5.xlarge", "ml.g5.xlag"))
    status, said = preflight("churn.yaml")
    assert (status, said.out, ready.asked) == (1, "", [])
    assert "did you mean `ml.g5.xlarge`" in said.err


class Bootstrap(NamedTuple):
    """A cdk.json, what the Parameter Store answers, what is found, and which qualifier it is asked for."""

    file: str
    given: dict[str, Any]
    state: str
    said: str
    qualifier: str | None = "hnb659fds"


BOOTSTRAPS = [
    Bootstrap("{}", {}, "ok", "version 28"),
    Bootstrap("{}", {"GetParameter": Refused("ParameterNotFound")}, "problem", "has no CDK bootstrap"),
    Bootstrap("{}", {"GetParameter": {"Parameter": {"Value": "5"}}}, "problem", "has version 5; 6 or newer"),
    Bootstrap("{}", {"GetParameter": {"Parameter": {"Value": "x"}}}, "cannot tell", "which is no version"),
    Bootstrap('{"context": {"@aws-cdk/core:bootstrapQualifier": "team"}}', {}, "ok", "version 28", "team"),
    Bootstrap("{", {}, "cannot tell", "cdk.json cannot be read", None),
]


@pytest.mark.parametrize("it", BOOTSTRAPS)
def test_the_bootstrap_is_needed_where_the_cdk_cli_is_run(
    it: Bootstrap, ready: Answers, preflight: Preflight
) -> None:
    assert not _found(preflight("churn.yaml", "--format", "json")[1], "bootstrap")
    Path("cdk.json").write_text(it.file)
    ready.given |= it.given
    [found] = _found(preflight("churn.yaml", "--format", "json")[1], "bootstrap")
    assert (found["state"], it.said in found["message"]) == (it.state, True), found
    names = [params["Name"] for operation, params in ready.asked if operation == "GetParameter"]
    assert names == ([] if it.qualifier is None else [f"/cdk-bootstrap/{it.qualifier}/version"])


ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "model_specs").glob("*.yaml"))


class Denied(dict[str, Any]):
    """Refuses everything but to say who asks."""

    def __missing__(self, operation: str) -> Refused:
        return Refused("AccessDeniedException", f"not authorized to call {operation}", 403)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda it: it.stem)
def test_nothing_can_be_told_of_any_example_without_rights(
    example: Path, ready: Answers, preflight: Preflight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    ready.given = Denied(GetCallerIdentity={"Account": "111122223333"})
    status, said = preflight(str(example), "--format", "json")
    assert status == 3, said.err
    assert {it["check"] for it in json.loads(said.out) if it["state"] == "ok"} == {"credentials"}
    policy = preflight(str(example), "--print-policy")[1]
    asked = {it["Effect"] for it in json.loads(policy.out)["Statement"]}
    assert asked == {"Allow"}
