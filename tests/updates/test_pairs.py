"""What each kind of change does to the existing stack, found from the templates before and after."""

from typing import Any

import pytest
from support.template_pairs import CHANGES, PAIRS, QUIET, Pair
from support.updating import deploy, fates, resources_of, spec_of

from inferstack.problems import SpecError
from inferstack.review import update_of, update_problems
from inferstack.updates import UPDATE_RULES

every_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.base}: {pair.title}")


@every_pair
def test_a_change_does_this_and_no_more(pair: Pair) -> None:
    update, problems = pair.deployed()
    assert fates(update) == set(pair.does)
    found = [(problem.code, ".".join(map(str, problem.path))) for problem in problems]
    assert sorted(found) == sorted(pair.said)


@every_pair
def test_what_is_said_has_a_way_round_and_a_place_in_the_spec(pair: Pair) -> None:
    update, problems = pair.deployed()
    for problem in problems:
        assert problem.fix
        assert problem.message != problem.fix
        assert update.written(problem.path) == problem.path


OF_OWN_STACKS = {"IS858", "IS898"}
"""About what only an app decides, and no pair of specs: tests/review/test_own_stacks.py and test_moves.py."""


@pytest.mark.parametrize("code", sorted(UPDATE_RULES.keys() - OF_OWN_STACKS))
def test_every_code_has_a_pair_of_templates(code: str) -> None:
    assert code in {one for pair in PAIRS for one in pair.says}, f"no pair in pairs.yaml says {code}: add one"


EVERY_KIND = ("single", "multi", "ensemble", "pipeline", "components")
EVERY_CHANGE = (
    *("weights under a new key", "image", "environment", "instance type", "instance count"),
    *("more at most", "routing", "variant renamed"),
)
OF_COMPONENTS = ("component renamed", "component removed", "component added", "component moved")
CALLED_OTHERWISE = {
    ("multi", "weights under a new key"): "prefix of a multi-model endpoint",
    ("multi", "image"): "image of a multi-model endpoint",
    ("components", "weights under a new key"): "weights of a component",
    ("components", "instance type"): "instance type under components",
    ("components", "variant renamed"): "variant renamed under components",
}


def test_every_kind_has_a_pair_for_every_change() -> None:
    wanted = {(kind, change) for kind in EVERY_KIND for change in EVERY_CHANGE}
    wanted |= {("components", change) for change in OF_COMPONENTS}
    titles = {(kind, CALLED_OTHERWISE.get((kind, change), change)) for kind, change in wanted}
    assert titles - {(pair.base, pair.title) for pair in PAIRS} == set()


def test_no_two_pairs_have_the_same_title() -> None:
    assert len({(pair.base, pair.title) for pair in PAIRS}) == len(PAIRS)


def test_a_warning_about_an_update_can_be_ignored_and_an_error_cannot() -> None:
    change = [CHANGES["scaled"], {"variant": {"instance_type": "ml.g5.xlarge"}}]
    after = spec_of("single", *change, {"ignore": ["IS870"]})
    _, problems = deploy(after, spec_of("single", CHANGES["scaled"]))
    assert [problem.code for problem in problems] == ["IS860"]
    with pytest.raises(SpecError, match="IS860 is an error and cannot be ignored"):
        spec_of("single", *change, {"ignore": ["IS860"]})


@pytest.mark.parametrize("pair", [it for it in PAIRS if it.reads], ids=lambda it: f"{it.base}: {it.title}")
def test_a_sentence_tells_what_happens_to_what_and_what_to_do(pair: Pair) -> None:
    problems = pair.deployed()[1]
    for code, reads in pair.reads.items():
        assert reads in {f"{it.message}; {it.fix}" for it in problems if it.code == code}


def test_every_code_has_a_sentence() -> None:
    said = {code for pair in PAIRS for code in pair.says}
    read = {code for pair in PAIRS for code in pair.reads}
    assert read == said, "in pairs.yaml, every code under `says` needs its sentence under `reads` of one pair"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "2 more ml.g5.12xlarge"),
        (CHANGES["scaled"], "up to 6 more ml.g5.12xlarge"),
        (CHANGES["two_variants"], "2 more ml.g5.xlarge"),
        (CHANGES["rolling"], "batch by batch"),
        (CHANGES["serverless"], "cold starts"),
    ],
)
def test_a_new_fleet_says_what_room_it_needs(change: Any, said: str) -> None:
    metrics = {"endpoint_config": {"metrics_config": {"enable_enhanced_metrics": True}}}
    _, problems = deploy(spec_of("single", QUIET, change, metrics), spec_of("single", QUIET, change))
    assert [problem.code for problem in problems] == ["IS870"]
    assert said in str(problems[0])


def test_tags_are_no_cause_of_a_new_fleet() -> None:
    [pair] = [pair for pair in PAIRS if pair.title == "weights and tags"]
    _, [problem] = pair.deployed()
    assert problem.message.startswith("`model.model_data_url` changes: ")


def test_a_hand_written_target_may_name_its_endpoint_by_reference() -> None:
    before = resources_of(spec_of("single", CHANGES["scaled"]))
    reference = {"Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/AllTraffic"}
    before["ScalableTargetAllTraffic"]["Properties"]["ResourceId"] = reference
    after = spec_of("single", CHANGES["scaled"], {"variant": {"instance_type": "ml.g5.xlarge"}})
    assert "IS860" in {problem.code for problem in update_problems(after, update_of(after, before))}


def test_an_adapter_that_was_deployed_with_its_variants_name_is_updated_in_place() -> None:
    after = spec_of("components", QUIET, CHANGES["adapter"])
    before = resources_of(after)
    (adapter,) = (it for it in before if "ChatFr" in it)
    before[adapter]["Properties"]["VariantName"] = "AllTraffic"
    update = update_of(after, before)
    assert fates(update) == {"~InferenceComponentChatFr"}
    assert update_problems(after, update) == []


def test_an_adapter_that_moves_is_said_to_leave_the_variant_of_its_base() -> None:
    on = {"inference_components": {"chat-fr": {"variant_name": "small"}, "chat": {"variant_name": "small"}}}
    before = spec_of("components", QUIET, CHANGES["two_fleets"], CHANGES["adapter"], on)
    on = {"inference_components": {"chat-fr": {"variant_name": "large"}, "chat": {"variant_name": "large"}}}
    after = spec_of("components", QUIET, CHANGES["two_fleets"], CHANGES["adapter"], on)
    said = {it.message for it in deploy(after, before)[1] if it.code == "IS865"}
    assert {it.split(",")[0] for it in said} == {
        "`chat` moves from the variant `small` to `large`",
        "`chat-fr` moves from the variant `small` to `large`",
    }


def test_the_cause_of_a_new_endpoint_is_its_name() -> None:
    update, _ = deploy(spec_of("single", QUIET, {"endpoint_name": "other"}), spec_of("single", QUIET))
    assert list(update.causes("Endpoint")) == [("endpoint_name",)]
