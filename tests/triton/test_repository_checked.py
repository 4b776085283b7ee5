"""What is wrong with an existing repository is reported at its position, and all of it at once."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.archiving import CONFIG, ENSEMBLE, MODEL, PIPE, lay_out
from support.checking import check_file
from support.repositories import spec_file

from inferstack.problems import FilePlace, Problem
from inferstack.triton.folders import read_repository
from inferstack.triton.rules import RULES, repository_problems

# Long enough for the sample itself, but not for what the sample stands for.
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3\n"
SAMPLE = (
    "model_warmup { batch_size: 1 inputs { "
    'key: "X" value { data_type: TYPE_FP32 dims: 1 input_data_file: "x" } } }'
)


def problems(
    tmp_path: Path, files: Mapping[str, str], kind: str = "single-model", more: str = ""
) -> list[Problem]:
    lay_out(tmp_path / "models", files)
    found = check_file(spec_file(tmp_path, f"{{repository: models{more}}}", kind))
    return [problem for problem in found if problem.code in RULES]


def places(tmp_path: Path, found: list[Problem]) -> list[tuple[str, str, int, int]]:
    return [(it.code, it.file.removeprefix(f"{tmp_path.as_posix()}/"), it.line, it.column) for it in found]


# Files of a repository, and the code, file, line and column of what is wrong with it.
WRONG: dict[str, tuple[dict[str, str], list[tuple[str, str, int, int]]]] = {
    "an unknown field": (
        {**MODEL, "net/config.pbtxt": f"{CONFIG}max_batchsize: 3\n"},
        [("IS900", "models/net/config.pbtxt", 4, 1)],
    ),
    "a byte order mark": (
        {**MODEL, "net/config.pbtxt": f"\ufeff{CONFIG}"},
        [("IS900", "models/net/config.pbtxt", 1, 1)],
    ),
    "config.pbtxt at the top": (
        {"config.pbtxt": CONFIG, "1/model.py": ""},
        [("IS901", "models/config.pbtxt", 1, 1)],
    ),
    "a folder of the file system beside a model": (
        {**MODEL, "lost+found/": ""},
        [("IS903", "models/lost+found/config.pbtxt", 1, 1), ("IS917", "spec.yaml", 5, 22)],
    ),
    "a folder too many": (
        {f"repository/{path}": content for path, content in MODEL.items()},
        [("IS901", "models/repository", 1, 1)],
    ),
    "an empty repository": ({"readme.txt": ""}, [("IS901", "models", 1, 1)]),
    "no configuration": (
        {"net/1/model.onnx": ""},
        [("IS903", "models/net/config.pbtxt", 1, 1)],
    ),
    "another name than the folder's": (
        {**MODEL, "net/config.pbtxt": f'{CONFIG}name: "net2"\n'},
        [("IS904", "models/net/config.pbtxt", 4, 1)],
    ),
    "no version folder": (
        {"net/config.pbtxt": CONFIG, "net/model.py": ""},
        [("IS907", "models/net/config.pbtxt", 1, 1)],
    ),
    "a version folder with a letter": (
        {"net/config.pbtxt": CONFIG, "net/v1/model.py": ""},
        [("IS907", "models/net/config.pbtxt", 1, 1)],
    ),
    "a second version folder with a zero": (
        {**MODEL, "net/02/model.py": ""},
        [("IS908", "models/net/config.pbtxt", 1, 1)],
    ),
    "the version folder of the ensemble is lost": (
        {path: content for path, content in PIPE.items() if path != "pipe/1/"},
        [("IS907", "models/pipe/config.pbtxt", 1, 1)],
    ),
    "no model file": (
        {"net/config.pbtxt": CONFIG, "net/1/net.py": ""},
        [("IS910", "models/net/config.pbtxt", 1, 1)],
    ),
    "no file in the version": (
        {"net/config.pbtxt": CONFIG, "net/1/": ""},
        [("IS910", "models/net/config.pbtxt", 1, 1)],
    ),
    "a step of a model that is not there": (
        {
            "net2/config.pbtxt": CONFIG,
            "net2/1/model.py": "",
            **{k: v for k, v in PIPE.items() if k not in MODEL},
        },
        [("IS956", "models/pipe/config.pbtxt", 6, 5), ("IS919", "models/net2/config.pbtxt", 1, 1)],
    ),
    "a file for warm-up that is too short": (
        {
            **MODEL,
            "net/warmup/x": "abc",
            "net/config.pbtxt": f"{CONFIG}{SAMPLE}",
        },
        [("IS949", "models/net/config.pbtxt", 4, 85)],
    ),
    "a pointer to a file for warm-up that is too short": (
        {**MODEL, "net/warmup/x": LFS, "net/config.pbtxt": f"{CONFIG}{SAMPLE}"},
        [("IS949", "models/net/config.pbtxt", 4, 85)],
    ),
}


@pytest.mark.parametrize(("files", "expected"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_repository_gives_exactly_its_codes_at_their_places(
    tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str, int, int]]
) -> None:
    default = ", default_model: pipe" if any(path.startswith("pipe/") for path in files) else ""
    found = problems(tmp_path, files, more=default)
    assert sorted(places(tmp_path, found)) == sorted(expected)
    assert all(problem.fix for problem in found)


@pytest.mark.parametrize(
    ("files", "more"),
    [
        (MODEL, ""),
        (PIPE, ", default_model: pipe"),
        ({**MODEL, ".ipynb_checkpoints/x": "", "__MACOSX/net/x": "", "net/._config.pbtxt": ""}, ""),
        ({**MODEL, "net/config.pbtxt": CONFIG.replace("\n", "\r\n")}, ""),
        ({**MODEL, "net/warmup/x": "", "net/lib/a.py": ""}, ""),
        ({**MODEL, "net/warmup/x": "1234", "net/config.pbtxt": f"{CONFIG}{SAMPLE}"}, ""),
        ({**PIPE, "pipe/config.pbtxt": ENSEMBLE.replace("platform:", "platform :")}, ", default_model: pipe"),
    ],
)
def test_a_right_repository_gives_nothing(tmp_path: Path, files: dict[str, str], more: str) -> None:
    assert problems(tmp_path, files, more=more) == []


def test_a_configuration_that_is_not_utf_8_is_an_error_at_its_line(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", MODEL)
    (tmp_path / "models/net/config.pbtxt").write_bytes(CONFIG.encode() + b'name: "\xff"')
    assert places(tmp_path, problems(tmp_path, {})) == [("IS900", "models/net/config.pbtxt", 4, 1)]


def test_a_huge_configuration_is_not_read(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", MODEL)
    with (tmp_path / "models/net/config.pbtxt").open("wb") as file:
        file.truncate(1 << 40)
    (found,) = problems(tmp_path, {})
    assert (found.code, "larger" in found.message) == ("IS900", True)


def test_several_models_need_a_default_one(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, PIPE)
    assert (found.code, found.path) == ("IS917", ("triton", "repository"))
    assert "`pipe`" in found.fix


def test_the_default_model_is_in_the_repository(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, PIPE, more=", default_model: pip")
    assert (found.code, found.path) == ("IS917", ("triton", "default_model"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('platform: "ensemble"', 'platform : "ensemble"', [("IS915", 1, 1)]),
        ('platform: "ensemble"', "platform: 'ensemble'", [("IS915", 1, 1)]),
        ('platform: "ensemble"', 'platform:\n  "ensemble"', []),
        ('platform: "ensemble"', 'platform: "ensemble"', []),
    ],
)
def test_the_container_of_a_multi_model_endpoint_sees_the_ensemble(
    tmp_path: Path, old: str, new: str, expected: list[tuple[str, int, int]]
) -> None:
    files = {f"a/{path}": content.replace(old, new) for path, content in PIPE.items()}
    found = problems(tmp_path, files, "multi-model")
    assert [(it.code, it.line, it.column) for it in found] == expected


def test_the_container_of_a_multi_model_endpoint_sees_no_other_ensemble(tmp_path: Path) -> None:
    files = {f"a/{path}": content for path, content in PIPE.items()}
    files["a/net/config.pbtxt"] = f'{CONFIG}# for platform: "ensemble"\n'
    (found,) = problems(tmp_path, files, "multi-model")
    assert (found.code, found.file.endswith("a/net/config.pbtxt")) == ("IS915", True)


def test_the_name_of_the_model_that_answers_does_not_matter_behind_a_multi_model_endpoint(
    tmp_path: Path,
) -> None:
    assert problems(tmp_path, {**MODEL, "net/config.pbtxt": f'{CONFIG}name: "x"'}, "multi-model") == []


def test_one_unreadable_model_does_not_hide_what_is_wrong_with_another(tmp_path: Path) -> None:
    files = {**PIPE, "net/config.pbtxt": "?", "pipe/config.pbtxt": f"{ENSEMBLE}max_batch_size: -1"}
    found = problems(tmp_path, files, more=", default_model: pipe")
    assert sorted(it.code for it in found) == ["IS900", "IS922"]


def test_the_tensor_that_an_output_hangs_on_is_named(tmp_path: Path) -> None:
    steps = (("a", "loose", "t"), ("b", "t", "u"), ("c", "u", "Y"), ("d", "X", "rest"))
    text = "".join(
        f'step {{ model_name: "net" model_version: -1 input_map {{ key: "X" value: "{source}" }} '
        f'output_map {{ key: "Y" value: "{target}" }} }}\n'
        for _, source, target in steps
    )
    ensemble = f"{ENSEMBLE[: ENSEMBLE.index('  step')]}{text}}}\n"
    found = problems(tmp_path, {**PIPE, "pipe/config.pbtxt": ensemble}, more=", default_model: pipe")
    assert [(it.code, it.line) for it in found] == [("IS954", 3), ("IS955", 5), ("IS955", 8)]
    assert ["`loose`" in it.message for it in found] == [True, True, False]


def test_a_missing_folder_is_a_warning_and_can_be_ignored(tmp_path: Path) -> None:
    file = spec_file(tmp_path, "{repository: nowhere}")
    (found,) = check_file(file)
    assert (found.code, found.severity, found.line) == ("IS902", "warning", 5)
    assert f"{tmp_path.as_posix()}/nowhere does not exist" in found.message
    file.write_text(f"{file.read_text()}ignore: [IS902]\n")
    assert check_file(file) == []


def test_an_error_cannot_be_ignored(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", {**MODEL, "net/config.pbtxt": f"{CONFIG}max_batch_size: -1"})
    file = spec_file(tmp_path, "{repository: models}\nignore: [IS922]")
    assert sorted(it.code for it in check_file(file)) == ["IS291", "IS922"]


def test_an_archive_of_which_nothing_else_is_known_can_be_checked(tmp_path: Path) -> None:
    repository = read_repository(
        lay_out(tmp_path, {**MODEL, "net/config.pbtxt": f"{CONFIG}max_batch_size: -1"})
    )
    found = list(repository_problems(repository, lambda path: FilePlace("?")))
    assert [it.code for it in found] == ["IS922"]


@pytest.mark.parametrize("model", ["net", "pipe"])
def test_a_decoupled_model_of_an_archive_needs_a_container_of_which_nothing_is_known(
    tmp_path: Path, model: str
) -> None:
    files = {
        **PIPE,
        "net/config.pbtxt": f"{PIPE['net/config.pbtxt']}model_transaction_policy {{ decoupled: true }}",
    }
    lay_out(tmp_path, files)
    repository = replace(read_repository(tmp_path), default_model=model)
    found = list(
        repository_problems(repository, lambda _: FilePlace("archive"), ignored=frozenset({"IS919"}))
    )
    assert [problem.code for problem in found] == ["IS967"]
    assert ("net of pipe" in found[0].message) == (model == "pipe")
