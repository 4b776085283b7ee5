"""The signatures as data: complete, with sources, and leading to keys that exist."""

import re
from string import Formatter

import pytest
from diagnosis.test_verdicts import told

from inferstack.check.every_code import every_code
from inferstack.diagnosis.signature import Signature, every_signature, known
from inferstack.format.schema import shipped_schema

SIGNATURES = [it for it in known().read if it.pattern]
NEEDS = {"", "gpu", "serverless", "triton"}


def properties() -> set[str]:
    return {
        key for definition in shipped_schema()["$defs"].values() for key in definition.get("properties", {})
    }


def filled(signature: Signature) -> set[str]:
    texts = (signature.cause, signature.fix, *signature.keys)
    return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda it: f"{it.code} {it.pattern[:30]}")
def test_a_signature_is_whole(signature):
    patterns = {signature.source: signature.pattern, **signature.elsewhere}
    assert all(it.startswith("https://") for it in patterns)
    assert len(patterns) == 1 + len(signature.elsewhere), "a source has one pattern"
    assert signature.needs in NEEDS
    assert signature.fix or signature.verdict == "cannot-tell"
    assert signature.verdict == "cause" or not signature.certain
    names = {name for it in patterns.values() for name in re.compile(it).groupindex}
    assert filled(signature) <= names | {it.rstrip("0123456789") for it in names}
    assert {*signature.rules} <= {*every_code()}
    assert signature.alone or signature.rules


def test_a_verdict_names_the_source_that_has_its_sentence():
    several = next(it for it in SIGNATURES if it.code == "no-neuron-core" and it.elsewhere)
    assert told("Could not find VNC id 3").source == several.source
    found = told("Neuron devices are not enough to run partitions")
    assert found.code == several.code
    assert found.source != several.source
    assert found.source in several.elsewhere


def test_keys_are_those_of_the_format_or_variables():
    keys = {key for it in SIGNATURES for key in it.keys if not key.startswith("{")}
    assert {key for key in keys if not key.isupper()} <= properties() | {"name"}


# Nobody has published what AWS says in these cases, or the line has a second meaning: certain only beside a spec
# whose problem agrees.
NEVER_CERTAIN = {
    *("no-addresses", "no-room-for-copies", "download-timeout", "image-access", "model-data-access"),
    *(
        "model-data-download",
        "s3-access",
        "image-not-ecr",
        "pip-failed",
        "killed",
        "shared-memory",
        "exception",
        "refused",
        "not-multi-model-server",
    ),
}


def test_what_a_line_leaves_open_is_not_certain():
    assert {code for code in NEVER_CERTAIN for it in every_signature()[code] if it.certain} == set()
    kms = [it.pattern for it in every_signature()["kms"] if it.certain]
    assert kms == [r"not authorized to perform: (?P<action>kms:\w+)"], "IAM's own sentence"
    script = [it for it in every_signature()["wrong-architecture"] if "exec format" in it.pattern]
    assert not any(it.certain for it in script), "a script without #! ends so, too"


def test_there_are_about_a_hundred():
    assert len(SIGNATURES) >= 100
    assert len({it.code for it in SIGNATURES}) >= 80
