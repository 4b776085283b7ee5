"""An archive that somebody else made is judged as the container will see it, and can do no harm meanwhile."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import subprocess
import tarfile
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.archiving import CONFIG, ENSEMBLE, MODEL, PIPE, lay_out, locate, member, tar_of

from inferstack.problems import FilePlace, Problem
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import plan_archive
from inferstack.triton.folders import MOST_MODELS, read_repository
from inferstack.triton.rules import repository_problems

END = bytes(1024)
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3\n"
OTHER = {"other/config.pbtxt": CONFIG, "other/1/model.py": "pass\n"}


def inspected(folder: Path, content: bytes, *, multi_model: bool = False) -> Inspection:
    """The archive, with every problem of its form and of its models."""
    archive = folder / "model.tar.gz"
    archive.write_bytes(content)
    return inspect_archive(archive, multi_model=multi_model)


def problems(inspection: Inspection) -> list[Problem]:
    found = list(inspection.problems)
    if inspection.repository is not None:
        found += repository_problems(inspection.repository, lambda _: FilePlace("archive"))
    return found


def errors(inspection: Inspection) -> list[str]:
    return sorted({problem.code for problem in problems(inspection) if problem.severity == "error"})


def zipped(contents: Mapping[str, str]) -> bytes:
    return gzip.compress(tar_of(contents), 1)


def message(inspection: Inspection) -> str:
    (problem,) = problems(inspection)
    return problem.message


def test_our_own_archive_has_no_problem_and_the_same_digests(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", PIPE)
    made = pack(plan_archive(read_repository(folder), [folder], locate), tmp_path / "model.tar.gz")
    found = inspect_archive(made.path, multi_model=False)
    assert errors(found) == []
    assert found.packed == replace(made, contents={})
    assert found.repository is not None
    assert found.repository.default_model == "pipe"


@pytest.mark.parametrize("options", [["-C", "models", "."], ["-C", "models", "net", "pipe"]])
@pytest.mark.parametrize("form", ["gnu", "pax", "ustar", "v7"])
def test_archives_of_the_tar_command_have_no_problem(options: list[str], form: str, tmp_path: Path) -> None:
    lay_out(tmp_path / "models", {**PIPE, "net/1/" + "n" * 80: "x"})
    subprocess.run(["tar", f"--format={form}", "-czf", "model.tar.gz", *options], cwd=tmp_path, check=True)
    found = inspect_archive(tmp_path / "model.tar.gz", multi_model=False)
    assert errors(found) == []
    assert [member.name for member in found.members if member.kind == "file"].count("net/1/model.py") == 1


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_foreign_names_are_read_as_tarfile_reads_them(form: int, tmp_path: Path) -> None:
    names = ["net/1/" + "l" * 150, "net/" + "/".join("deep" * 10 for _ in range(5)), "net/1/größe"]
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=form) as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name))
    assert [it.name for it in inspected(tmp_path, made.getvalue()).members] == names


def test_content_is_hashed_to_the_last_byte(tmp_path: Path) -> None:
    tar = tar_of(MODEL)
    content = gzip.compress(tar[:1024]) + gzip.compress(tar[1024:] + bytes(10_240))
    packed = inspected(tmp_path, content).packed
    assert packed is not None
    assert packed.file_sha256 == hashlib.sha256(content).hexdigest()
    assert packed.tar_sha256 == hashlib.sha256(tar + bytes(10_240)).hexdigest()


LAYOUTS: list[tuple[str, Mapping[str, str], list[str], list[str]]] = [
    # what, contents, errors for a single model, errors in an archive of a multi-model endpoint
    ("a model", MODEL, [], []),
    ("with ./ in front", {f"./{path}": content for path, content in {"": "", **MODEL}.items()}, [], []),
    ("an ensemble", PIPE, [], []),
    ("the configuration at the top", {"config.pbtxt": CONFIG, "1/model.py": ""}, ["IS901"], []),
    ("a folder too many", {f"repo/{path}": text for path, text in MODEL.items()}, ["IS901"], ["IS901"]),
    ("nothing", {}, ["IS901"], ["IS901"]),
    ("files only", {"model.py": ""}, ["IS901"], ["IS901"]),
    ("two models", {**MODEL, **OTHER}, ["IS917"], ["IS914"]),
    ("no version", {"net/config.pbtxt": CONFIG}, ["IS907"], ["IS907"]),
    ("the ensemble's version lost", {**MODEL, "pipe/config.pbtxt": ENSEMBLE}, ["IS907"], ["IS907"]),
    ("a version v1", {"net/config.pbtxt": CONFIG, "net/v1/model.py": ""}, ["IS907"], ["IS907"]),
    ("another name", {**MODEL, "net/config.pbtxt": 'name: "other"\n' + CONFIG}, ["IS904"], []),
    ("a byte order mark", {**MODEL, "net/config.pbtxt": "\ufeff" + CONFIG}, ["IS900"], ["IS900"]),
    ("no pbtxt", {**MODEL, "net/config.pbtxt": "nonsense: {"}, ["IS900"], ["IS900"]),
    ("too large a pbtxt", {**MODEL, "net/config.pbtxt": CONFIG + "#" * (1 << 20)}, ["IS900"], ["IS900"]),
    ("stray checkpoints", {**MODEL, ".ipynb_checkpoints/x": ""}, ["IS997"], ["IS997"]),
    ("an empty stray folder", {**MODEL, ".ipynb_checkpoints/": ""}, ["IS997"], ["IS997"]),
    ("macOS's folder", {**MODEL, "__MACOSX/net/._config.pbtxt": ""}, ["IS997"], ["IS997"]),
    ("a file with something under it", {**MODEL, "net/1/model.py/x": "other"}, ["IS994"], ["IS994"]),
    ("a file where a folder is", {"net/1/model.py/x": "", **MODEL}, ["IS994"], ["IS994"]),
    ("a file that is a folder in another case", {**MODEL, "net/1/MODEL.py/x": ""}, [], []),
    ("the same file twice", {**MODEL, "./net/1/model.py": "other"}, ["IS994"], ["IS994"]),
    ("but for case", {**MODEL, "net/1/Model.py": ""}, [], []),
    ("with slashes and dots between", {path.replace("/", "//./"): it for path, it in MODEL.items()}, [], []),
    ("with a wide space", {**MODEL, "net/1/日本\u3000語": "", "net/1/a\xa0b": ""}, [], []),
    ("with a character that controls", {**MODEL, "net/1/a\x1bb": ""}, ["IS993"], ["IS993"]),
    ("an absolute path", {**MODEL, "/etc/x": ""}, ["IS993"], ["IS993"]),
    ("a way out", {**MODEL, "net/../../x": ""}, ["IS993"], ["IS993"]),
]


@pytest.mark.parametrize(
    ("contents", "single", "many"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS]
)
def test_the_layout_is_what_the_container_looks_for(
    contents: Mapping[str, str], single: list[str], many: list[str], tmp_path: Path
) -> None:
    assert errors(inspected(tmp_path, zipped(contents))) == single
    assert errors(inspected(tmp_path, zipped(contents), multi_model=True)) == many


def test_the_reason_is_given_for_a_path_that_leads_out(tmp_path: Path) -> None:
    assert message(inspected(tmp_path, zipped({**MODEL, "/etc/x": ""}))).endswith("it is absolute")
    assert message(inspected(tmp_path, zipped({**MODEL, "net/../x": ""}))).endswith("it has `..` in it")


def test_an_archive_without_the_mark_of_its_end_is_whole(tmp_path: Path) -> None:
    found = inspected(tmp_path, gzip.compress(b"".join(member(path, content=b"") for path in MODEL)))
    assert found.packed is not None
    assert [it.name for it in found.members] == list(MODEL)


def test_an_archive_of_nothing_at_all_has_no_model(tmp_path: Path) -> None:
    assert errors(inspected(tmp_path, gzip.compress(b""))) == ["IS901"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("net/1/Model.py", "`net/1/Model.py (net/1/model.py)`"),
        ("net/1/cafe\u0301", "`net/1/cafe\u0301 (net/1/caf\xe9)`"),
    ],
)
def test_paths_that_are_one_on_other_systems_are_a_warning_with_both(
    tmp_path: Path, path: str, said: str
) -> None:
    (problem,) = inspected(tmp_path, zipped({**MODEL, "net/1/caf\xe9": "", path: ""})).problems
    assert (problem.code, problem.severity) == ("IS994", "warning")
    assert problem.message.endswith(said)


def test_files_of_tools_inside_a_model_are_a_warning(tmp_path: Path) -> None:
    found = inspected(tmp_path, zipped({**MODEL, "net/1/._model.py": "", "net/.DS_Store": "", "._net": ""}))
    (problem,) = found.problems
    assert (problem.code, problem.severity) == ("IS998", "warning")
    assert "`._net`" in problem.message


def test_a_model_at_the_top_has_the_archives_name(tmp_path: Path) -> None:
    found = inspected(
        tmp_path, zipped({"config.pbtxt": CONFIG, "1/model.py": ""}), multi_model=True
    ).repository
    assert found is not None
    assert [(model.name, model.versions, list(model.files)) for model in found.models] == [
        ("model", ("1",), ["1/model.py"])
    ]


def test_a_problem_of_a_configuration_stands_at_its_line_in_the_archive(tmp_path: Path) -> None:
    found = inspected(tmp_path, zipped({**MODEL, "net/config.pbtxt": CONFIG + "nonsense: 1\n"})).repository
    assert found is not None
    (fault,) = found.faults
    assert fault.place == FilePlace(f"{(tmp_path / 'model.tar.gz').as_posix()}/net/config.pbtxt", 4, 1)


LINKS = {
    "symbolic link": member("net/1/model.pt", tarfile.SYMTYPE, linkname="/etc/passwd"),
    "hard link": member("net/1/model.pt", tarfile.LNKTYPE, linkname="net/config.pbtxt", size=5000),
    "device": member("net/1/model.pt", tarfile.CHRTYPE),
    "pipe": member("net/1/model.pt", tarfile.FIFOTYPE),
    "unknown kind of entry": member("net/1/model.pt", b"V", b"what is this"),
    "sparse file": member("net/1/model.pt", content=b"x", pax_headers={"GNU.sparse.major": "1"}),
}


@pytest.mark.parametrize("kind", LINKS)
def test_what_is_neither_file_nor_folder_is_refused(kind: str, tmp_path: Path) -> None:
    found = inspected(tmp_path, gzip.compress(LINKS[kind] + tar_of(MODEL)))
    (problem,) = problems(found)
    assert (problem.code, problem.message) == ("IS991", f"{kind} in the archive: `net/1/model.pt`")
    assert ("tar -h --hard-dereference" in problem.fix) == ("link" in kind)
    assert [it.name for it in found.members if it.kind == "file"] == list(MODEL)


def test_a_long_target_of_a_link_is_passed_over(tmp_path: Path) -> None:
    info = tarfile.TarInfo("net/1/model.pt")
    info.type, info.linkname = tarfile.SYMTYPE, "l" * 300
    found = inspected(tmp_path, gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + tar_of(MODEL)))
    assert message(found) == "symbolic link in the archive: `net/1/model.pt`"


def test_a_link_for_a_configuration_is_not_followed(tmp_path: Path) -> None:
    link = member("net/config.pbtxt", tarfile.SYMTYPE, linkname="/etc/passwd")
    assert errors(inspected(tmp_path, gzip.compress(link + tar_of({"net/1/model.py": ""})))) == ["IS991"]


def test_what_is_neither_file_nor_folder_is_refused_also_among_leftovers(tmp_path: Path) -> None:
    link = member("net/.git/HEAD", tarfile.SYMTYPE, linkname="x")
    found = inspected(tmp_path, gzip.compress(link + tar_of(MODEL)))
    assert message(found) == "symbolic link in the archive: `net/.git/HEAD`"


def test_pointers_of_git_lfs_are_told_all_at_once(tmp_path: Path) -> None:
    pointers = dict.fromkeys(("net/1/model.py", "net/labels", "net/config.pbtxt", "net/.git/x"), POINTER)
    found = inspected(tmp_path, zipped({**MODEL, "net/1/data": POINTER + "more\n", **pointers}))
    assert [problem.code for problem in problems(found)] == ["IS989", "IS998", "IS900"]
    assert found.problems[0].message.endswith(" files: `net/1/model.py` and `net/labels`")
    assert "git lfs pull" in found.problems[0].fix


def zip_file() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("net/config.pbtxt", CONFIG)
    return made.getvalue()


GZIP = zipped({**MODEL, "net/1/weights.bin": "".join(map(str, range(5000)))})
HUGE = 1 << 40
UNUSABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is empty"),
    "text": (b"hello", "it is not a gzip file"),
    "a tar without gzip": (tar_of(MODEL), "it is an uncompressed tar"),
    "zip": (zip_file(), "it is a zip file, not a tar"),
    "bzip2": (bz2.compress(tar_of(MODEL)), "it is compressed with bzip2, not with gzip"),
    "xz": (lzma.compress(tar_of(MODEL)), "it is compressed with xz, not with gzip"),
    "cut off": (GZIP[: len(GZIP) // 2], "it ends too early"),
    "cut off in the checksum": (GZIP[:-4], "it ends too early"),
    "a wrong checksum": (GZIP[:-8] + bytes(8), "it is damaged"),
    "damaged": (GZIP[:200] + bytes(200) + GZIP[400:], "it is damaged"),
    "something behind it": (GZIP + b"more", "it is damaged"),
    "no tar": (gzip.compress(b"hello" * 1000), "it does not hold a tar"),
    "a file that is cut off": (gzip.compress(member("net/x", content=b"x" * 5000)[:3000]), "in the middle"),
    "a size beyond all": (gzip.compress(member("net/x", size=HUGE) + END), "in the middle"),
    "a size that is none": (
        gzip.compress(member("net/x", pax_headers={"size": "-5"}) + END),
        'the size of "net/x" is not a number',
    ),
    "an endless name": (gzip.compress(member("n" * 2000) + END), "is longer than"),
    "a header without end": (gzip.compress(member("x", tarfile.XHDTYPE, size=1 << 32) + END), "bytes long"),
    "a long name without end": (gzip.compress(member("x", b"L", size=1 << 32) + END), "bytes long"),
    "a damaged header": (gzip.compress(member("x", tarfile.XHDTYPE, b"999 path=x\n") + END), "is damaged"),
    "a header of nothing": (gzip.compress(member("x", tarfile.XHDTYPE, b"11 path=x\n") + END), "is damaged"),
    "an old sparse file": (
        gzip.compress(member("net/x", tarfile.GNUTYPE_SPARSE) + END),
        "is stored as a sparse file",
    ),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_is_no_whole_archive_is_one_clear_problem(what: str, tmp_path: Path) -> None:
    content, reason = UNUSABLE[what]
    found = inspected(tmp_path, content)
    assert [problem.code for problem in found.problems] == ["IS996"]
    assert reason in message(found)
    assert found.packed is None


def test_a_missing_archive_is_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").touch()
    [problem] = inspect_archive(tmp_path / "modle.tar.gz", multi_model=False).problems
    assert (problem.code, problem.message) == ("IS001", "there is no such file")
    assert problem.fix == "did you mean `model.tar.gz`?"
    [problem] = inspect_archive(tmp_path / "none" / "model.tar.gz", multi_model=False).problems
    assert problem.code == "IS001"
    assert problem.fix.startswith("there is no directory ")


def test_a_directory_is_no_archive(tmp_path: Path) -> None:
    [problem] = inspect_archive(tmp_path, multi_model=False).problems
    assert (problem.code, problem.message) == ("IS002", "this is a directory")


def test_a_pipe_is_refused_without_being_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    # Opening it would wait for a writer.
    monkeypatch.delattr(Path, "open")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        [problem] = inspect_archive(path, multi_model=False).problems
        assert (problem.code, problem.message) == ("IS003", "this is not a regular file")


def test_a_path_that_no_file_can_have_is_a_problem(tmp_path: Path) -> None:
    [problem] = inspect_archive(tmp_path / ("a" * 300), multi_model=False).problems
    assert problem.code == "IS004"


def test_a_line_of_a_configuration_is_not_printed_whole(tmp_path: Path) -> None:
    found = inspected(tmp_path, zipped({"net/config.pbtxt": "x" * 300_000}))
    assert found.repository is not None
    said = [str(it) for it in repository_problems(found.repository, lambda _: FilePlace("archive"))]
    assert any("IS900" in line for line in said)
    assert max(map(len, said)) < 3_000


def test_only_so_many_folders_of_models_are_looked_at(tmp_path: Path) -> None:
    models = {f"m{number:04}/config.pbtxt": CONFIG for number in range(MOST_MODELS + 1)}
    found = inspected(tmp_path, zipped(models))
    assert found.repository is not None
    assert len(found.repository.models) == MOST_MODELS == 1_000
    [fault] = found.repository.faults
    assert fault.code == "IS901"
    assert "1,001 folders of models" in fault.message
    assert "IS901" in errors(found)
    models.popitem()
    within = inspected(tmp_path, zipped(models)).repository
    assert within is not None
    assert (len(within.models), within.faults) == (MOST_MODELS, ())


def bomb(chunks: Iterator[bytes], target: Path) -> Path:
    with gzip.open(target, "wb", 1) as file:
        for chunk in chunks:
            file.write(chunk)
    return target


def many_members() -> Iterator[bytes]:
    yield member("net/x") * 1001


def many_folders() -> Iterator[bytes]:
    for number in range(100):
        yield member("/".join([f"net/{number}", *"abcdefghijk"]))


def large_configurations() -> Iterator[bytes]:
    for number in range(70):
        yield member(f"m{number}/config.pbtxt", content=bytes(1 << 20))


@pytest.mark.parametrize(
    ("chunks", "reason", "fix"),
    [
        (many_members, "more than 1000 entries", "leave out what no model loads"),
        (many_folders, "more than 1000 entries", "leave out what no model loads"),
        (large_configurations, "larger than", "leave out what is not a configuration"),
    ],
)
def test_what_would_fill_the_memory_is_refused(
    chunks: object, reason: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inferstack.triton.archive.inspection._MOST_MEMBERS", 1000)
    archive = bomb(chunks(), tmp_path / "model.tar.gz")  # type: ignore[operator]
    found = inspect_archive(archive, multi_model=False)
    assert reason in message(found)
    assert found.problems[0].fix.startswith(fix)


def test_what_swells_without_end_is_refused_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inferstack.triton.archive.reading._HARMLESS", 16 << 20)
    zeros = gzip.compress(bytes(16 << 20), 9)
    head = gzip.compress(member("net/1/model.bin", size=HUGE))
    (tmp_path / "model.tar.gz").write_bytes(head + zeros * 4)
    tracemalloc.start()
    try:
        found = inspect_archive(tmp_path / "model.tar.gz", multi_model=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "more than 100 times its size" in message(found)
    assert found.problems[0].fix.startswith("leave out files that repeat the same content over and over")
    assert peak < 8 << 20


def test_looking_into_an_archive_writes_nothing(tmp_path: Path) -> None:
    inspected(tmp_path, zipped({**PIPE, "../evil": "", "/tmp/evil": ""}))
    assert [path.name for path in tmp_path.iterdir()] == ["model.tar.gz"]
    assert not (tmp_path.parent / "evil").exists()
