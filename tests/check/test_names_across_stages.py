"""Names that two stages take, of one file or of two: whether they go to the same place, and what is said."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from inferstack.check.files import check_files
from inferstack.problems import Problem

SPEC = """\
kind: single-model
endpoint_name: {name}
model:
  image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1
  model_data_url: s3://acme-models/net/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""
Tell = Callable[..., list[Problem]]
ONE, TWO = '{account: "111122223333", region: us-east-1}', '{account: "444455556666", region: us-east-1}'


def stages(**env: str) -> str:
    """Stages, each with its `env`."""
    return "stages:\n" + "".join(
        f"  {name}: {{{f'env: {where}' if where else ''}}}\n" for name, where in env.items()
    )


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    monkeypatch.chdir(tmp_path)

    def told(*specs: str, stage: str | None = None) -> list[Problem]:
        files = [Path(f"{letter}.yaml") for letter, _ in zip("abcdef", specs, strict=False)]
        for file, text in zip(files, specs, strict=True):
            file.write_text(text, "utf-8")
        return check_files(files, stage=stage)

    return told


def codes(problems: Iterable[Problem]) -> list[tuple[str, str]]:
    return [(it.file, it.code) for it in problems]


def spec(name: str, more: str = "") -> str:
    return SPEC.format(name=name) + more


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"test": ONE, "prod": ONE}, ["IS041"]),
        ({"test": ONE, "prod": TWO}, []),
        ({"test": "{region: us-east-1}", "prod": "{region: eu-west-1}"}, []),
        ({"test": "{region: us-east-1}", "prod": "{region: us-east-1}"}, ["IS061"]),
        ({"test": '{account: "111122223333"}', "prod": '{account: "111122223333"}'}, ["IS061"]),
        ({"test": "", "prod": ONE}, ["IS061"]),
        ({"test": "", "prod": ""}, ["IS061"]),
        ({"test": ONE, "prod": TWO, "canary": TWO}, ["IS041"]),
        ({"test": "", "prod": TWO, "canary": TWO}, ["IS041", "IS061"]),
        # The bare spec is not deployed beside its only stage.
        ({"prod": ""}, []),
    ],
)
def test_stages_of_a_file_may_share_a_name_in_different_places_only(
    told: Tell, env: dict[str, str], expected: list[str]
) -> None:
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
    text = spec("bert", stages(**env)).replace(image, image.replace("us-east-1", "${AWS::Region}"))
    assert [it.code for it in told(text)] == expected


def test_stages_with_names_of_their_own_say_nothing(told: Tell) -> None:
    assert told(spec("bert-${stage}", stages(test=ONE, prod=ONE))) == []


def test_two_stages_of_one_name_are_said_once_with_what_to_write(told: Tell) -> None:
    [problem] = told(spec("bert", stages(test="", qa="", prod="")))
    assert (problem.line, problem.column) == (2, 16)
    assert str(problem).endswith(
        'IS061: warning: the stages `test`, `qa` and `prod` take the same endpoint name, "bert", and may be for '
        "the same account and region: then, deploying one updates the stack of the other; write "
        '`endpoint_name: "bert-${stage}"`; or if their accounts differ, name them: `env: {account: …}` in each '
        "stage"
    )


def test_two_pairs_of_stages_in_two_accounts_are_two_errors(told: Tell) -> None:
    problems = told(spec("bert", stages(a=ONE, b=TWO, c=ONE, d=TWO)))
    assert [it.message.partition(" take ")[0] for it in problems] == [
        "the stages `a` and `c`",
        "the stages `b` and `d`",
    ]


def test_a_component_of_one_name_at_two_stages_is_said_although_the_endpoints_differ(told: Tell) -> None:
    text = """\
kind: inference-components
endpoint_name: chat-${stage}
env: {account: "111122223333", region: us-east-1}
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 2}
inference_components:
  NAME:
    specification:
      container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://acme-models/chat.tar.gz}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
stages: {test: {}, prod: {}}
"""
    [problem] = told(text.replace("NAME", "llama"))
    assert (problem.code, problem.line) == ("IS042", 6)
    assert 'the second one cannot be created; write `"llama-${stage}"` for it' in str(problem)
    assert told(text.replace("NAME", '"llama-${stage}"')) == []


CHOSEN = {
    "IS043": ("dashboard: {{dashboard_name: {}}}", "dashboard_name: "),
    "IS064": (
        "alarms: {{rules: [{{metric: ModelLatency, threshold: 1 s, alarm_name: {}}}]}}",
        "alarm_name: ",
    ),
    "IS074": (
        "endpoint_config: {{async_inference_config: {{create: {{bucket: {{bucket_name: {}}}}}}}}}",
        "bucket_name: ",
    ),
    "IS084": (
        "endpoint_config: {{async_inference_config: {{create: {{bucket: {{}}, error_topic: {{topic_name: {}}}}}}}}}",
        "topic_name: ",
    ),
    "IS094": ("exports: {{endpoint_name: {}}}", ""),
    "IS095": ("invokers: {{role: {{role_name: {}, trusted: [lambda.amazonaws.com]}}}}", "role_name: "),
    "IS096": ("invokers: {{managed_policy_name: {}}}", "managed_policy_name: "),
}


@pytest.mark.parametrize("code", CHOSEN)
def test_a_name_that_the_spec_chooses_differs_between_stages_of_one_account(told: Tell, code: str) -> None:
    chosen, key = CHOSEN[code]

    def named(name: str) -> list[Problem]:
        more = f"{chosen.format(name)}\n{stages(test=ONE, prod=ONE)}"
        return [it for it in told(spec("bert-${stage}", more)) if it.code in CHOSEN]

    [problem] = named("acme-bert")
    assert problem.code == code
    assert f'write `{key}"acme-bert-${{stage}}"`' in problem.fix
    assert named('"acme-bert-${stage}"') == []


def test_a_bucket_of_one_name_is_taken_in_every_account_and_region(told: Tell) -> None:
    made = CHOSEN["IS074"][0].format("acme-bert")
    there = '{account: "444455556666", region: eu-west-1}'
    text = spec("bert-${stage}", f"{made}\n{stages(test=ONE, prod=there)}").replace(
        "us-east-1.am", "${AWS::Region}.am"
    )
    [problem] = [it for it in told(text) if it.code == "IS074"]
    assert problem.message.endswith("in the same partition: the second one is not made")
    assert problem.fix == 'write `bucket_name: "acme-bert-${stage}"`'


# ---------------------------------------------------------------- two files


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # One after the other into one account.
        (spec("bert-test", stages(prod=ONE)), spec("bert-${stage}", stages(test=ONE, prod=TWO)), ["IS041"]),
        (spec("bert-test", stages(prod=ONE)), spec("bert-${stage}", stages(test=TWO, prod=TWO)), []),
        (spec("bert-test", stages(prod="")), spec("bert-${stage}", stages(test="", prod="")), ["IS061"]),
        # At once: without stages at every stage, and only one of them may be elsewhere.
        (spec("bert-test"), spec("bert-${stage}", stages(test="", prod="")), ["IS041"]),
        (spec("bert-test", f"env: {ONE}\n"), spec("bert-${stage}", stages(test="", prod="")), ["IS061"]),
        (spec("bert", f"env: {ONE}\n"), spec("bert"), ["IS061"]),
        (spec("bert", f"env: {ONE}\n"), spec("bert", f"env: {TWO}\n"), []),
        (spec("bert", f"env: {ONE}\n"), spec("bert", f"env: {TWO}\nignore: [IS061]\n"), []),
        (spec("bert", f"env: {ONE}\n"), spec("bert", "ignore: [IS061]\n"), []),
        # A bare spec beside the stages of another file.
        (
            spec("bert", "stages: {prod: {endpoint_name: gpt}}\n"),
            spec("bert-${stage}", "stages: {prod: {endpoint_name: bert}}\n"),
            [],
        ),
    ],
)
def test_files_may_share_a_name_in_different_places_only(
    told: Tell, one: str, other: str, expected: list[str]
) -> None:
    assert codes(told(one, other)) == [("b.yaml", code) for code in expected]


def test_a_name_of_another_stage_names_both_stages(told: Tell) -> None:
    [problem] = told(spec("bert-test", stages(prod=ONE)), spec("bert-${stage}", stages(test=ONE, prod=TWO)))
    said = 'the endpoint name "bert-test" of the stage `test` is taken by a.yaml:2 at the stage `prod`, for the same account and region'
    assert problem.message == said


def test_only_the_chosen_stage_counts(told: Tell) -> None:
    assert told(spec("bert", stages(test=ONE, prod=ONE)), stage="prod") == []


def test_many_files_of_one_name_are_told_one_by_one(told: Tell, tmp_path: Path) -> None:
    files = [tmp_path / f"{number:03}.yaml" for number in range(40)]
    for file in files:
        file.write_text(spec("bert", stages(**{f"s{number}": "" for number in range(10)})), "utf-8")
    found = [it for it in check_files(files) if it.code == "IS041"]
    assert [it.file for it in found] == [str(file) for file in files[1:]]
