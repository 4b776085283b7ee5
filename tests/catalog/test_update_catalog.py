from pathlib import Path

import pytest

from tools import instances, update_catalog
from tools.portable_pattern import portable


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data that is up to date and that tests can change, used instead of the committed one."""
    committed = {path: path.read_text(encoding="utf-8") for path in update_catalog.DATA.iterdir()}
    for path, text in {**committed, **update_catalog.generated()}.items():
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(update_catalog, "DATA", tmp_path)
    return tmp_path


def test_the_committed_data_is_what_the_installed_packages_say() -> None:
    found = update_catalog.differences()
    assert not found, "\n".join([*found, f"To take this over, run: {update_catalog.COMMAND}"])


def test_a_change_is_named_with_the_command_that_takes_it_over(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied / "api_only.json"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace('"KV_AWARE"', '"OLD"'), encoding="utf-8")
    assert update_catalog.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "api_only.json has moved on:" in said
    assert '+    "KV_AWARE"' in said
    assert "botocore 1." in said
    assert update_catalog.COMMAND in said
    assert path.read_text(encoding="utf-8") != before


def test_an_update_writes_the_data_and_nothing_else(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copied / "regions.json").unlink()
    assert update_catalog.main([]) == 0
    assert capsys.readouterr().out == "wrote regions.json\n"
    assert update_catalog.main(["--check"]) == 0


def test_a_long_change_is_cut_short(copied: Path) -> None:
    (copied / "cloudformation.json").write_text("{}\n", encoding="utf-8")
    [paragraph] = update_catalog.differences()
    assert len(paragraph.splitlines()) == update_catalog.LINES_SHOWN + 2
    assert paragraph.endswith("more lines")


def test_an_instance_type_without_facts_is_named(copied: Path) -> None:
    path = copied / "instance-types.csv"
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(row for row in rows if not row.startswith("ml.g5.xlarge,")), encoding="utf-8")
    assert update_catalog.differences() == [
        "instance-types.csv has no row for ml.g5.xlarge: add them by hand"
    ]


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
        (r"[a-z]+", r"[a-z]+"),
        (".*", None),
        (r"^[\S\s]*$", None),
    ],
)
def test_a_pattern_is_made_portable_or_dropped_if_it_says_nothing(java: str, common: str | None) -> None:
    assert portable(java) == common
