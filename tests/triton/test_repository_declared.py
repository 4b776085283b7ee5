"""Repositories that a spec declares: models, their versions, their local files, archives."""

from pathlib import Path

from support.checking import check_file
from support.repositories import loaded, spec_file

from inferstack.check.load import load_spec
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
