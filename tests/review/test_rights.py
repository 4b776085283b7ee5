"""What the note on an update says about the role's rights."""

from typing import Any

from inferstack.updates.role import changed_rights

READ = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/one"]}


def policy(logical_id: str, statement: Any) -> dict[str, Any]:
    properties = {"PolicyDocument": {"Version": "2012-10-17", "Statement": statement}}
    return {logical_id: {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}}


def changed(before: Any, after: Any) -> str:
    return changed_rights(policy("Old", before), policy("New", after))


def test_a_single_statement_action_or_resource_needs_no_list() -> None:
    by_hand = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::models/one"}
    assert changed(by_hand, [READ]) == "the role may do what it could"


def test_the_same_policy_says_nothing_whatever_it_allows() -> None:
    assert changed_rights(policy("Same", [READ]), policy("Same", [])) == ""


def test_of_many_actions_the_first_is_named_and_the_others_are_counted() -> None:
    read = {**READ, "Action": ["s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion"]}
    assert changed([], [read]) == "the role gains s3:GetObject and 2 more on arn:aws:s3:::models/one"


def test_a_statement_that_names_no_action_may_allow_any() -> None:
    assert changed([], [{"Resource": "*"}]) == "the role gains * on *"


def test_of_many_rights_three_are_named_and_the_others_are_counted() -> None:
    places = [f"arn:aws:s3:::models/{it}" for it in "abcde"]
    more = {**READ, "Resource": places}
    assert changed([], [more]) == (
        "the role gains s3:GetObject on arn:aws:s3:::models/a, s3:GetObject on arn:aws:s3:::models/b, "
        "s3:GetObject on arn:aws:s3:::models/c and 2 more"
    )
    assert changed([{**more, "Resource": places[:3]}], []) == (
        "the role loses s3:GetObject on arn:aws:s3:::models/a, s3:GetObject on arn:aws:s3:::models/b "
        "and s3:GetObject on arn:aws:s3:::models/c"
    )


def test_prefixes_come_and_go_one_by_one() -> None:
    def list_of(*prefixes: str, **others: object) -> dict[str, object]:
        condition = {"StringLike": {"s3:prefix": [*prefixes], **others}}
        return {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::models", "Condition": condition}

    assert changed([list_of("one/*", "two/*")], [list_of("one/*", "three/*")]) == (
        "the role gains s3:ListBucket on arn:aws:s3:::models if the prefix is three/* and loses s3:ListBucket "
        "on arn:aws:s3:::models if the prefix is two/*"
    )
    assert changed([], [list_of("one/*", other="x")]) == (
        'the role gains s3:ListBucket on arn:aws:s3:::models if {"StringLike": {"other": "x", "s3:prefix": '
        '["one/*"]}}'
    )


def test_the_rights_of_invokers_are_not_those_of_the_role() -> None:
    assert changed_rights({}, policy("InvokerPolicy", [READ])) == ""
