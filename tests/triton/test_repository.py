"""Repositories, declared in a spec or found in folders, become one model; what is wrong has its place."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from inferstack.spec.check import check_file, load_spec, parse_spec
from inferstack.spec.problem import Problem
from inferstack.spec.rules.triton_models import triton_release
from inferstack.triton.check import repository_problems
from inferstack.triton.model import FilePlace
from inferstack.triton.repository import Repository, read_repository, repositories_of
from inferstack.triton.rules import RULES
from inferstack.triton.versions import is_version, loaded_versions, version_folders

IO = """\
input { name: "X" data_type: TYPE_FP32 dims: 1 }
output { name: "Y" data_type: TYPE_FP32 dims: 1 }
"""
CONFIG = f'backend: "python"\n{IO}'
ENSEMBLE = f"""\
platform: "ensemble"
{IO}ensemble_scheduling {{
  step {{ model_name: "net" model_version: -1 input_map {{ key: "X" value: "X" }} output_map {{ key: "Y" value: "Y" }} }}
}}
"""
# Long enough for the sample itself, and not what it stands for.
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3\n"
SAMPLE = (
    "model_warmup { batch_size: 1 inputs { "
    'key: "X" value { data_type: TYPE_FP32 dims: 1 input_data_file: "x" } } }'
)
NET = {"net/config.pbtxt": CONFIG, "net/1/model.py": ""}
PIPE = {**NET, "pipe/config.pbtxt": ENSEMBLE, "pipe/1/": ""}
HEAD = """\
kind: {kind}
endpoint_name: e
model: {{image: {{framework: triton, version: "25.09"}}, model_data_url: "s3://models/m{tail}"}}
variant: {{instance_type: ml.c6i.xlarge, initial_instance_count: 2}}
triton: {triton}
"""


def lay_out(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files by path; a path that ends in a slash is an empty folder."""
    for path, content in files.items():
        target = folder / path
        (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            target.write_text(content, "utf-8")
    return folder


def spec_file(tmp_path: Path, triton: str, kind: str = "single-model") -> Path:
    file = tmp_path / "spec.yaml"
    tail = "/" if kind == "multi-model" else "/model.tar.gz"
    file.write_text(HEAD.format(kind=kind, tail=tail, triton=triton), "utf-8")
    return file


def problems(
    tmp_path: Path, files: Mapping[str, str], kind: str = "single-model", more: str = ""
) -> list[Problem]:
    lay_out(tmp_path / "models", files)
    found = check_file(spec_file(tmp_path, f"{{repository: models{more}}}", kind))
    return [problem for problem in found if problem.code in RULES]


def places(tmp_path: Path, found: list[Problem]) -> list[tuple[str, str, int, int]]:
    return [(it.code, it.file.removeprefix(f"{tmp_path.as_posix()}/"), it.line, it.column) for it in found]


def loaded(file: Path) -> tuple[Repository, ...]:
    return repositories_of(load_spec(file).spec, file.parent)


# ---------------------------------------------------------------- from a spec


def test_models_of_a_spec_have_their_local_files_relative_to_the_spec(tmp_path: Path) -> None:
    file = spec_file(
        tmp_path,
        "{models: {m: {backend: python, files: {1/model.py: src/m.py, env.tar.gz: /opt/env.tar.gz}}}}",
    )
    ((model,),) = (repository.models for repository in loaded(file))
    assert model.files == {"1/model.py": tmp_path / "src/m.py", "env.tar.gz": Path("/opt/env.tar.gz")}
    assert (model.name, model.config.name, model.text) == ("m", "", None)


@pytest.mark.parametrize(
    ("files", "versions"),
    [
        ("{}", ("1",)),
        ("{labels.txt: labels.txt}", ("1",)),
        ("{3/model.py: a}", ("3",)),
        ("{10/model.py: a, 9/model.py: b, 9/data: c}", ("9", "10")),
        ("{warmup/x: a, 2/model.py: b}", ("2",)),
    ],
)
def test_versions_follow_from_the_files(files: str, versions: tuple[str, ...]) -> None:
    spec = parse_spec(
        {
            "kind": "single-model",
            "endpoint_name": "e",
            "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/a:1"},
            "variant": {"instance_type": "ml.c6i.xlarge", "initial_instance_count": 1},
            "triton": {"models": {"m": {"backend": "x", "files": _mapping(files)}}},
        }
    ).spec
    (repository,) = repositories_of(spec, Path())
    assert repository.models[0].versions == versions


def _mapping(text: str) -> dict[str, str]:
    pairs = (pair.split(": ") for pair in text.strip("{}").split(", ") if pair)
    return dict(pairs)


def test_archives_of_a_multi_model_endpoint_are_repositories_of_their_own(tmp_path: Path) -> None:
    model = "{backend: python, files: {1/model.py: m.py}}"
    file = spec_file(
        tmp_path,
        f"{{archives: {{a.tar.gz: {{models: {{m: {model}}}}}, b.tar.gz: {{models: {{n: {model}}}}}}}}}",
        "multi-model",
    )
    assert [
        (it.archive, [model.name for model in it.models], it.default_model, it.kind, it.source)
        for it in loaded(file)
    ] == [
        ("a.tar.gz", ["m"], "m", "multi-model", ("triton", "archives", "a.tar.gz")),
        ("b.tar.gz", ["n"], "n", "multi-model", ("triton", "archives", "b.tar.gz")),
    ]


def test_the_only_model_is_the_default_one(tmp_path: Path) -> None:
    (repository,) = loaded(spec_file(tmp_path, "{models: {m: {backend: x}}}"))
    assert (repository.default_model, repository.archive, repository.kind) == ("m", "model.tar.gz", "single")


def test_a_spec_without_the_block_has_no_repository() -> None:
    spec = load_spec(Path("model_specs/travel-chat.yaml")).spec
    assert repositories_of(spec, Path()) == ()


def test_a_field_stands_where_the_spec_has_it(tmp_path: Path) -> None:
    (repository,) = loaded(spec_file(tmp_path, "{models: {m: {backend: x, max_batch_size: 4}}}"))
    place = repository.models[0].where(("max_batch_size",))
    assert place == ("triton", "models", "m", "max_batch_size")


def test_every_model_of_the_components_fleet_is_checked_with_what_it_reserves(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(
        """\
kind: inference-components
endpoint_name: e
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 1}
inference_components:
  one:
    specification:
      container: {image: {framework: triton, version: "25.09"}, artifact_url: s3://models/m.tar.gz}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
triton:
  models:
    m:
      backend: python
      files: {1/model.py: m.py}
      instance_group: [{kind: KIND_GPU, gpus: [1]}]
""",
        "utf-8",
    )
    assert [(it.code, it.line) for it in check_file(file) if it.code in RULES] == [("IS931", 14)]


# ---------------------------------------------------------------- from folders


def test_an_existing_repository_is_read_as_it_stands(tmp_path: Path) -> None:
    files = {**PIPE, "net/2/model.py": "", "net/v3/model.py": "", "net/labels.txt": "", ".git/HEAD": ""}
    repository = read_repository(lay_out(tmp_path, files))
    net, pipe = repository.models
    assert (net.name, net.versions, net.folders) == ("net", ("1", "2"), ("1", "2", "v3"))
    assert set(net.files) == {"1/model.py", "2/model.py", "v3/model.py", "labels.txt"}
    assert net.files["labels.txt"] == tmp_path / "net/labels.txt"
    assert (net.text, net.complete) == (CONFIG, True)
    assert (pipe.name, pipe.versions, dict(pipe.files)) == ("pipe", ("1",), {})
    assert repository.faults == ()


def test_a_field_stands_where_the_text_has_it(tmp_path: Path) -> None:
    (model,) = read_repository(lay_out(tmp_path, NET)).models
    file = (tmp_path / "net/config.pbtxt").as_posix()
    assert model.where(("input", 0, "data_type")) == FilePlace(file, 2, 19)
    assert model.where(("input", 0, "reshape", "shape", 0)) == FilePlace(file, 2, 1)
    assert model.where(("max_batch_size",)) == FilePlace(file, 1, 1)


def test_a_link_in_a_model_is_one_file_and_leads_nowhere(tmp_path: Path) -> None:
    lay_out(tmp_path, NET)
    (tmp_path / "net/1/again").symlink_to(tmp_path / "net")
    (model,) = read_repository(tmp_path).models
    assert set(model.files) == {"1/model.py", "1/again"}


def test_folders_of_a_repository_are_the_archives_of_a_multi_model_endpoint(tmp_path: Path) -> None:
    inner = {f"both/{path}": content for path, content in PIPE.items()}
    lay_out(tmp_path / "models", {**NET, **inner})
    file = spec_file(tmp_path, "{repository: models}", "multi-model")
    assert [(it.archive, it.default_model, len(it.models)) for it in loaded(file)] == [
        ("both.tar.gz", "pipe", 2),
        ("net.tar.gz", "net", 1),
    ]


# Files of a repository, and the code, file, line and column of what is wrong with it.
WRONG: dict[str, tuple[dict[str, str], list[tuple[str, str, int, int]]]] = {
    "an unknown field": (
        {**NET, "net/config.pbtxt": f"{CONFIG}max_batchsize: 3\n"},
        [("IS900", "models/net/config.pbtxt", 4, 1)],
    ),
    "a byte order mark": (
        {**NET, "net/config.pbtxt": f"\ufeff{CONFIG}"},
        [("IS900", "models/net/config.pbtxt", 1, 1)],
    ),
    "config.pbtxt at the top": (
        {"config.pbtxt": CONFIG, "1/model.py": ""},
        [
            ("IS901", "models/config.pbtxt", 1, 1),
            ("IS903", "models/1/config.pbtxt", 1, 1),
            ("IS907", "models/1/config.pbtxt", 1, 1),
        ],
    ),
    "a folder too many": (
        {f"repository/{path}": content for path, content in NET.items()},
        [("IS901", "models/repository", 1, 1)],
    ),
    "an empty repository": ({"readme.txt": ""}, [("IS901", "models", 1, 1)]),
    "no configuration": (
        {"net/1/model.onnx": ""},
        [("IS903", "models/net/config.pbtxt", 1, 1)],
    ),
    "another name than the folder's": (
        {**NET, "net/config.pbtxt": f'{CONFIG}name: "net2"\n'},
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
        {**NET, "net/02/model.py": ""},
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
            **{k: v for k, v in PIPE.items() if k not in NET},
        },
        [("IS956", "models/pipe/config.pbtxt", 5, 10), ("IS919", "models/net2/config.pbtxt", 1, 1)],
    ),
    "a file for warm-up that is too short": (
        {
            **NET,
            "net/warmup/x": "abc",
            "net/config.pbtxt": f"{CONFIG}{SAMPLE}",
        },
        [("IS949", "models/net/config.pbtxt", 4, 85)],
    ),
    "a pointer to a file for warm-up that is too short": (
        {**NET, "net/warmup/x": LFS, "net/config.pbtxt": f"{CONFIG}{SAMPLE}"},
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
        (NET, ""),
        (PIPE, ", default_model: pipe"),
        ({**NET, ".ipynb_checkpoints/x": "", "__MACOSX/net/x": "", "net/._config.pbtxt": ""}, ""),
        ({**NET, "net/config.pbtxt": CONFIG.replace("\n", "\r\n")}, ""),
        ({**NET, "net/warmup/x": "", "net/lib/a.py": ""}, ""),
        ({**NET, "net/warmup/x": "1234", "net/config.pbtxt": f"{CONFIG}{SAMPLE}"}, ""),
        ({**PIPE, "pipe/config.pbtxt": ENSEMBLE.replace("platform:", "platform :")}, ", default_model: pipe"),
    ],
)
def test_a_right_repository_gives_nothing(tmp_path: Path, files: dict[str, str], more: str) -> None:
    assert problems(tmp_path, files, more=more) == []


def test_a_configuration_that_is_not_utf_8_is_an_error_at_its_line(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", NET)
    (tmp_path / "models/net/config.pbtxt").write_bytes(CONFIG.encode() + b'name: "\xff"')
    assert places(tmp_path, problems(tmp_path, {})) == [("IS900", "models/net/config.pbtxt", 4, 1)]


def test_a_huge_configuration_is_not_read(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", NET)
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
    assert problems(tmp_path, {**NET, "net/config.pbtxt": f'{CONFIG}name: "x"'}, "multi-model") == []


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
    ensemble = f'platform: "ensemble"\n{IO}ensemble_scheduling {{\n{text}}}\n'
    found = problems(tmp_path, {**PIPE, "pipe/config.pbtxt": ensemble}, more=", default_model: pipe")
    assert [(it.code, it.line) for it in found] == [("IS954", 3), ("IS955", 5), ("IS955", 8)]
    assert ["`loose`" in it.message for it in found] == [True, True, False]


def test_a_missing_folder_is_a_warning_and_can_be_ignored(tmp_path: Path) -> None:
    file = spec_file(tmp_path, "{repository: nowhere}")
    (found,) = check_file(file)
    assert (found.code, found.severity, found.line) == ("IS902", "warning", 5)
    assert f"{tmp_path.as_posix()}/nowhere is not there" in found.message
    file.write_text(f"{file.read_text()}ignore: [IS902]\n")
    assert check_file(file) == []


def test_an_error_cannot_be_ignored(tmp_path: Path) -> None:
    lay_out(tmp_path / "models", {**NET, "net/config.pbtxt": f"{CONFIG}max_batch_size: -1"})
    file = spec_file(tmp_path, "{repository: models}\nignore: [IS922]")
    assert sorted(it.code for it in check_file(file)) == ["IS291", "IS922"]


def test_an_archive_of_which_nothing_else_is_known_can_be_checked(tmp_path: Path) -> None:
    repository = read_repository(
        lay_out(tmp_path, {**NET, "net/config.pbtxt": f"{CONFIG}max_batch_size: -1"})
    )
    found = list(repository_problems(repository, lambda path: FilePlace("?")))
    assert [it.code for it in found] == ["IS922"]


# ---------------------------------------------------------------- small facts


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:26.05-py3", (26, 5)),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3-cpu", (24, 9)),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/mine:26.05", None),
        (None, None),
    ],
)
def test_the_release_follows_from_the_tag_of_an_image(image: str | None, release: object) -> None:
    assert triton_release(image) == release


def test_versions_are_plain_numbers_in_order() -> None:
    assert version_folders(["10", "9", "01", "v2", "0", "warmup", "-1", "1a"]) == ("0", "9", "10")
    assert not is_version("²")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", ("3",)),
        ("version_policy { }", ("1", "2", "3")),
        ("version_policy { all { } }", ("1", "2", "3")),
        ("version_policy { latest { num_versions: 2 } }", ("2", "3")),
        ("version_policy { latest { num_versions: 9 } }", ("1", "2", "3")),
        ("version_policy { latest { } }", ()),
        ("version_policy { specific { versions: 2 versions: 5 } }", ("2",)),
    ],
)
def test_a_policy_chooses_the_versions(tmp_path: Path, policy: str, expected: tuple[str, ...]) -> None:
    (model,) = read_repository(lay_out(tmp_path, {**NET, "net/config.pbtxt": f"{CONFIG}{policy}"})).models
    assert loaded_versions(model.config, ("1", "2", "3")) == expected


def test_a_spec_without_triton_does_not_import_protobuf() -> None:
    code = (
        "import sys; from inferstack.spec.check import check_file; "
        "check_file('model_specs/travel-chat.yaml'); print('google.protobuf' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": "constructs"},
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("linked", ["net", "net/config.pbtxt"])
def test_a_link_in_a_repository_is_refused_and_nothing_behind_it_is_shown(
    tmp_path: Path, linked: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.pbtxt").write_text("secret-word:x")
    link = tmp_path / "repository" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if linked == "net" else outside / "config.pbtxt")
    found = read_repository(tmp_path / "repository")
    assert not found.models
    (fault,) = found.faults
    assert "is a link" in fault.message
    assert "secret" not in fault.message
