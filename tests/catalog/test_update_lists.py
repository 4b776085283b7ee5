from pathlib import Path

import pytest

from inferstack.catalog import images, metrics
from tools import generated_files, update_lists


def test_the_committed_lists_are_what_the_catalog_says() -> None:
    stale = [path.name for path in generated_files.stale(update_lists.generate())]
    assert not stale, f"{stale} out of date, run: {update_lists.COMMAND}"


def test_every_metric_and_every_framework_is_listed() -> None:
    page = update_lists.metrics_page()
    assert all(f"| `{name}` |" in page for name in metrics.names())
    assert all(f"| `{one.name}` |" in page for one in metrics.PREDEFINED_SCALING_METRICS)
    assert all(f"| `{name}` |" in update_lists.images_page() for name in images.frameworks())


def test_a_stale_list_is_named_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(update_lists, "METRICS", tmp_path / "metrics.md")
    assert update_lists.main(["--check"]) == 1
    assert capsys.readouterr().out == "metrics.md is out of date, run: python -m tools.update_lists\n"
    assert update_lists.main([]) == 0
    assert update_lists.main(["--check"]) == 0
