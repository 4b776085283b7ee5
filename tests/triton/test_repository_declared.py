"""Repositories that a spec declares: models, their versions, their local files, archives."""

from pathlib import Path

from support.archiving import MODEL, PIPE, lay_out, locate
from support.checking import check_file
from support.repositories import loaded, spec_file

from inferstack.check.load import load_spec
from inferstack.triton.archive.plan import plan_archive
from inferstack.triton.repositories import repositories_of
from inferstack.triton.rules import RULES


def test_models_of_a_spec_have_their_local_files_relative_to_the_spec(tmp_path: Path) -> None:
    file = spec_file(
        tmp_path,
        "{models: {m: {backend: python, files: {1/model.py: src/m.py, env.tar.gz: /opt/env.tar.gz}}}}",
    )
    ((model,),) = (repository.models for repository in loaded(file))
    assert model.files == {"1/model.py": tmp_path / "src/m.py", "env.tar.gz": Path("/opt/env.tar.gz")}
    assert (model.name, model.config.name, model.text) == ("m", "", None)


def test_archives_of_a_multi_model_endpoint_are_repositories_of_their_own(tmp_path: Path) -> None:
    model = "{backend: python, files: {1/model.py: m.py}}"
    file = spec_file(
        tmp_path,
        f"{{archives: {{a.tar.gz: {{models: {{m: {model}}}}}, b.tar.gz: {{models: {{n: {model}}}}}}}}}",
        "multi-model",
    )
    assert [
        (it.archive, [model.name for model in it.models], it.default_model, it.multi_model, it.source)
        for it in loaded(file)
    ] == [
        ("a.tar.gz", ["m"], "m", True, ("triton", "archives", "a.tar.gz")),
        ("b.tar.gz", ["n"], "n", True, ("triton", "archives", "b.tar.gz")),
    ]


def test_an_archive_may_come_from_a_folder_of_one_model_or_of_several(tmp_path: Path) -> None:
    lay_out(tmp_path / "ours", {**MODEL, **{f"both/{path}": text for path, text in PIPE.items()}})
    written = "{models: {m: {backend: python, files: {1/model.py: m.py}}}}"
    archives = (
        f"a.tar.gz: {{repository: ours/net}}, x/b.tar.gz: {{repository: ours/both}}, c.tar.gz: {written}"
    )
    file = spec_file(tmp_path, f"{{archives: {{{archives}}}}}", "multi-model")
    assert [
        (
            it.archive,
            [model.name for model in it.models],
            it.default_model,
            it.multi_model,
            it.outside,
            it.source,
        )
        for it in loaded(file)
    ] == [
        ("a.tar.gz", ["net"], "net", True, False, ("triton", "archives", "a.tar.gz", "repository")),
        (
            "x/b.tar.gz",
            ["net", "pipe"],
            "pipe",
            True,
            False,
            ("triton", "archives", "x/b.tar.gz", "repository"),
        ),
        ("c.tar.gz", ["m"], "m", True, False, ("triton", "archives", "c.tar.gz")),
    ]


def test_the_folder_of_an_archive_is_checked_as_that_of_an_endpoint(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    wrong = MODEL["net/config.pbtxt"].replace("TYPE_FP32 dims: 1", "TYPE_FP32 dims: 0", 1)
    lay_out(inner / "ours", {**MODEL, "net/config.pbtxt": wrong, "a-file": "", ".git/HEAD": ""})
    lay_out(tmp_path / "outer", MODEL)
    folders = ("ours/net", "ours/nothing", "ours/a-file", "../outer/net")
    archives = ", ".join(f"{number}.tar.gz: {{repository: {it}}}" for number, it in enumerate(folders))
    file = spec_file(inner, f"{{archives: {{{archives}}}}}", "multi-model")
    found = [it for it in check_file(file) if it.code in RULES]
    assert [(it.code, ".".join(map(str, it.path))) for it in found] == [
        ("IS936", ""),
        ("IS902", "triton.archives.1.tar.gz.repository"),
        ("IS901", "triton.archives.2.tar.gz.repository"),
        ("IS988", "triton.archives.3.tar.gz.repository"),
    ]


def test_the_folder_of_an_archive_is_packed_without_what_is_beside_it(tmp_path: Path) -> None:
    lay_out(tmp_path, {**MODEL, ".git/HEAD": "", "net/.DS_Store": ""})
    file = spec_file(tmp_path, "{archives: {a.tar.gz: {repository: net}}}", "multi-model")
    plan = plan_archive(loaded(file)[0], [tmp_path], locate)
    assert (plan.archive, [entry.name for entry in plan.entries]) == (
        "a.tar.gz",
        ["net", "net/1", "net/1/model.py", "net/config.pbtxt"],
    )
    assert [it.name for it in plan.left_out] == ["net/.DS_Store"]


def test_the_only_model_is_the_default_one(tmp_path: Path) -> None:
    (repository,) = loaded(spec_file(tmp_path, "{models: {m: {backend: x}}}"))
    assert (repository.default_model, repository.archive, repository.multi_model) == (
        "m",
        "model.tar.gz",
        False,
    )


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
