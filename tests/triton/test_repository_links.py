"""An existing repository is checked the same way as it is packed: neither command accepts what the other refuses."""

import os
import shutil
from pathlib import Path

import pytest
from support.archiving import MODEL, lay_out

from inferstack.cli import main

SPEC = """\
kind: {kind}
endpoint_name: linked
model:
  image: {{framework: triton, version: "25.09"}}
  model_data_url: s3://bucket-of-models/linked/{archive}
variant: {{instance_type: ml.c6i.xlarge, initial_instance_count: 2}}
triton: {{repository: {repository}}}
"""
VALIDATE, PACKAGE = ("validate",), ("package", "--out", "out")
COMMANDS = pytest.mark.parametrize("command", [VALIDATE, PACKAGE], ids=lambda it: it[0])
KINDS = {"single-model": "model.tar.gz", "multi-model": ""}


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the spec, with one repository inside it and another beside it."""
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path / "away", MODEL)
    lay_out(tmp_path / "specs/models", MODEL)
    return tmp_path / "specs"


def run(command: tuple[str, ...], *more: str, kind: str = "single-model", repository: str = "models") -> int:
    text = SPEC.format(kind=kind, archive=KINDS[kind], repository=repository)
    Path("specs/a.yaml").write_text(text, "utf-8")
    return main([*command, *more, "specs/a.yaml"])


def link(place: Path, target: str | Path) -> None:
    """Puts a link in place of what is there."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(target)


def refused(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The places of all errors, each of which says that there is no such file or folder."""
    said = capsys.readouterr()
    lines = [
        line for line in (said.out + said.err).splitlines() if ": IS" in line and ": warning: " not in line
    ]
    found = [line.partition(":1:1: IS991: ") for line in lines]
    assert all(place == message.split(" is ")[0] for place, _, message in found)
    return [place for place, _, _ in found]


@COMMANDS
@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("net", "away/net"),
        ("net/config.pbtxt", "away/net/config.pbtxt"),
        ("net/1", "away/net/1"),
        ("net/1/model.py", "away/net/1/model.py"),
        ("net/1/model.py", "away/nothing"),
        ("net/config.pbtxt", "away/nothing"),
        ("net/1/again", "specs/models/net"),
        ("other", "away/net"),
        ("other", "away/nothing"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_links_in_a_repository_are_refused(
    command: tuple[str, ...],
    kind: str,
    place: str,
    target: str,
    specs: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link(specs / "models" / place, specs.parent / target)
    assert run(command, kind=kind) == 1
    assert refused(capsys) == [f"specs/models/{place}"]


@COMMANDS
@pytest.mark.parametrize(("place", "target"), [("both", "away"), ("both/net", "away/net")])
def test_links_in_the_place_of_an_archives_folder_or_in_it_are_refused(
    command: tuple[str, ...], place: str, target: str, specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link(specs / "models" / place, specs.parent / target)
    assert run(command, kind="multi-model") == 1
    assert refused(capsys) == [f"specs/models/{place}"]


@COMMANDS
def test_a_repository_whose_path_no_folder_can_have_is_missing(
    command: tuple[str, ...], specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command, repository='"a\\0b"') == (0 if command == VALIDATE else 1)
    said = capsys.readouterr()
    assert r"IS902: warning: specs/a\x00b does not exist" in said.out + said.err


@COMMANDS
@pytest.mark.parametrize("place", ["net/1/pipe", "net/config.pbtxt"])
@pytest.mark.parametrize("kind", KINDS)
def test_pipes_are_refused(
    command: tuple[str, ...], kind: str, place: str, specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (specs / "models" / place).unlink(missing_ok=True)
    os.mkfifo(specs / "models" / place)
    assert run(command, kind=kind) == 1
    assert refused(capsys) == [f"specs/models/{place}"]


@COMMANDS
@pytest.mark.parametrize("place", [".git", "net/.git", "net/1/.ipynb_checkpoints"])
def test_links_that_are_left_out_are_no_offence(command: tuple[str, ...], place: str, specs: Path) -> None:
    link(specs / "models" / place, specs.parent / "away")
    assert run(command) == 0


@COMMANDS
@pytest.mark.parametrize("kind", KINDS)
def test_a_link_to_a_file_beside_the_models_is_no_offence(
    command: tuple[str, ...], kind: str, specs: Path
) -> None:
    link(specs / "models/README", specs.parent / "away/net/1/model.py")
    assert run(command, kind=kind) == 0


@COMMANDS
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("repository", ["here", "../specs/models", "up/specs/models"])
def test_a_repository_in_the_specs_folder_may_be_named_by_any_way(
    command: tuple[str, ...], kind: str, repository: str, specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link(specs / "here", "models")
    link(specs / "up", specs.parent)
    assert run(command, kind=kind, repository=repository) == 0
    assert "IS988" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("repository", ["../away", "linked", "up/away", "{absolute}"])
def test_a_repository_elsewhere_is_allowed_by_whoever_packs_it_and_a_check_says_so(
    kind: str, repository: str, specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link(specs / "linked", specs.parent / "away")
    link(specs / "up", specs.parent)
    where = repository.format(absolute=specs.parent / "away")
    assert run(VALIDATE, kind=kind, repository=where) == 0
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if "IS988" in line]
    assert warning.startswith("specs/a.yaml:7:")
    assert "--allow" in warning
    assert run(PACKAGE, kind=kind, repository=where) == 1
    assert "IS992" in capsys.readouterr().err
    assert run(PACKAGE, "--allow", "away", kind=kind, repository=where) == 0


@COMMANDS
def test_nothing_behind_a_link_is_shown(
    command: tuple[str, ...], specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (specs.parent / "secret").write_text("secret-word: x", "utf-8")
    link(specs / "models/net/config.pbtxt", specs.parent / "secret")
    assert run(command) == 1
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
