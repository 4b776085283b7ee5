import pytest

from tools import instances
from tools.catalog_data import DATA
from tools.portable_pattern import portable


def test_every_instance_type_that_hosts_models_has_a_row() -> None:
    missing = instances.unlisted((DATA / "instance-types.csv").read_text("utf-8"))
    assert missing == [], "add them by hand"


def test_excuses_for_missing_facts_are_still_needed() -> None:
    header = "instance_type\n"
    hosting = set(instances.unlisted(header)) | instances.KNOWN_MISSING
    assert "ml.m5.large" in hosting
    assert instances.unlisted(header + "\n".join(hosting)) == []


@pytest.mark.parametrize(
    ("java", "common"),
    [
        (r"^\p{Print}+$", r"^[^\x00-\x1f\x7f]+$"),
        (r"^[\p{L}\p{Z}\p{N}_]*$", "^[0-9A-Za-z\\s\u0080-\U0010ffff_]*$"),
        (r"^arn:aws:kms::\d{12}:.+\Z", "^arn:aws:kms::[0-9]{12}:.+$"),
        (r"[a-z]+", r"[a-z]+"),
        (".*", None),
        (r"^[\S\s]*$", None),
    ],
)
def test_a_pattern_is_made_portable_or_dropped_if_it_says_nothing(java: str, common: str | None) -> None:
    assert portable(java) == common
