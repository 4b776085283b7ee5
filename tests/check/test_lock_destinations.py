"""Archives have one destination, or each component, and each model that components name, has its own."""

import json
import re
import shutil
from pathlib import Path

import pytest
from support.archiving import lay_out
from support.locked_specs import DIGEST, Change, edit, found, locked_spec, outdated, put, template_of, urls
from support.locking import AT_CATS, COMPONENTS, IMAGE, MODELLED, ONE, SEVERAL, lay_out_spec, own, write_lock

from inferstack.check.in_stack import in_place
from inferstack.check.load import load_spec, ruled
from inferstack.facts.triton import triton_blocks

CONTAINERS = {
    "none": ("  model_data_url: s3://acme-models/one/model.tar.gz\n", "", 6, "no container says"),
    "a folder, which holds no archive": (
        "model_data_url: s3://acme-models/one/model.tar.gz",
        "model_data_source:\n    {s3_data_source: {s3_uri: s3://acme-models/one/, s3_data_type: S3Prefix, compression_type: None}}",
        8,
        "no container says",
    ),
    "only the deployment knows": (
        "s3://acme-models/one/model.tar.gz",
        "'{{resolve:ssm:/models/one}}'",
        5,
        "is known only at deployment",
    ),
}


@pytest.mark.parametrize(("old", "new", "line", "said"), CONTAINERS.values(), ids=CONTAINERS)
def test_archives_without_one_place_to_go_are_refused(
    old: str, new: str, line: int, said: str, tmp_path: Path
) -> None:
    file = locked_spec(tmp_path, ONE)
    edit(old, new)(file)
    (problem,) = found(file)
    assert (problem.line, problem.code) == (line, "IS055")
    assert said in problem.message


def test_archives_with_two_places_to_go_are_refused(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, COMPONENTS)
    second = (
        "  second:\n    specification:\n"
        "      container: {image: {framework: triton, version: '25.09'}, artifact_url: s3://acme-models/b.tar.gz}\n"
        "      compute_resource_requirements: {min_memory_required_in_mb: 1024}\n"
    )
    edit("  adapter:\n", f"{second}  adapter:\n")(file)
    (problem,) = found(file)
    assert (problem.line, problem.code) == (11, "IS055")
    assert "`s3://acme-models/parts/model.tar.gz` or `s3://acme-models/b.tar.gz`" in problem.message
    assert problem.fix == "give the containers that load them one URL, or each a `triton` block of its own"


TWO_MODELS = f"""\
models:
  a: {{{IMAGE}, model_data_url: s3://acme-models/a.tar.gz}}
  b: {{{IMAGE}, model_data_url: s3://acme-models/b.tar.gz}}
variants:
  - {{variant_name: a, model_name: a, instance_type: ml.m5.large, initial_instance_count: 1}}
  - {{variant_name: b, model_name: b, instance_type: ml.m5.large, initial_instance_count: 1}}
"""
TWO_CONTAINERS = f"""\
model:
  containers:
    - {{{IMAGE}, model_data_url: s3://acme-models/a.tar.gz}}
    - {{{IMAGE}, model_data_url: s3://acme-models/b.tar.gz}}
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""


@pytest.mark.parametrize(
    ("kind", "blocks", "fix"),
    [
        (
            "single-model",
            TWO_MODELS,
            "give the containers that load them one URL, or each a `triton` block of its own",
        ),
        ("pipeline", TWO_CONTAINERS, "give the containers that load them one URL"),
    ],
)
def test_a_block_of_its_own_is_proposed_to_a_container_that_can_have_one(
    kind: str, blocks: str, fix: str, tmp_path: Path
) -> None:
    other = (
        f"model:\n  {IMAGE}\n  model_data_url: s3://acme-models/one/model.tar.gz\nvariant: {{instance_type"
    )
    file = locked_spec(tmp_path, ONE)
    edit(f"{other}: ml.m5.large, initial_instance_count: 2}}\n", blocks)(file)
    edit("kind: single-model", f"kind: {kind}")(file)
    (problem,) = found(file)
    assert (problem.code, problem.fix) == ("IS055", fix)


def test_each_component_gets_what_was_uploaded_for_it(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    lock = write_lock(file)
    assert found(file) == []
    cats, dogs = sorted(urls(file))
    assert re.fullmatch(rf"s3://acme-models/cats/model-sha256-{DIGEST}\.tar\.gz", cats)
    assert re.fullmatch(rf"s3://acme-models/dogs/model-sha256-{DIGEST}\.tar\.gz", dogs)
    uploads = json.loads(lock.read_text())["uploads"]
    assert {location: it["url"] for location, it in uploads.items()} == {
        AT_CATS: cats,
        "s3://acme-models/dogs/model.tar.gz": dogs,
    }


@pytest.mark.parametrize(
    ("text", "folder"), [(SEVERAL, ""), (MODELLED, "models/")], ids=["components", "models"]
)
def test_archives_are_packed_under_the_same_names_as_before_the_upload(
    text: str, folder: str, tmp_path: Path
) -> None:
    file = locked_spec(tmp_path, text)
    names = [block.archive for block in triton_blocks(load_spec(file).spec)]
    assert names == [f"{folder}cats/model.tar.gz", f"{folder}dogs/model.tar.gz"]


def test_an_archive_of_which_only_the_deployment_knows_the_name_is_packed_under_the_usual_one(
    tmp_path: Path,
) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    edit(AT_CATS, "'s3://models/{{resolve:ssm:/models/cats}}'")(file)
    names = [block.archive for block in triton_blocks(load_spec(file).spec)]
    assert names == ["cats/model.tar.gz", "dogs/model.tar.gz"]


def test_the_lock_vouches_for_the_weights_of_each_component(tmp_path: Path) -> None:
    one, two = (own(name, "net") for name in ("cats", "dogs"))
    models = [one[one.index("          models:") :], two[two.index("          models:") :]]
    text = SEVERAL[: SEVERAL.index("  cats:")] + one + two
    for at, name in enumerate(("cats", "dogs")):
        text = text.replace(models[at], f"          repository: {name}\n", 1)
    file = lay_out_spec(tmp_path, text)
    for name in ("cats", "dogs"):
        lay_out(
            tmp_path,
            {f"{name}/net/1/model.onnx": name, f"{name}/net/config.pbtxt": 'platform: "onnxruntime_onnx"\n'},
        )
    write_lock(file)
    for name in ("cats", "dogs"):
        shutil.rmtree(tmp_path / name / "net/1")
    assert found(file, "IS") == []
    assert ruled(in_place(load_spec(file), None, "eu-west-1")).spec.endpoint_name == "several"


def differing(old: str, new: str) -> list[str]:
    """The new lines, where as many lines replace old ones."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=True)
    return [one.strip() for before, one in pairs if before != one]


def test_new_weights_of_one_component_are_a_few_lines_and_no_change_of_the_other_or_of_rights(
    tmp_path: Path,
) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    lock = write_lock(file)
    lock.write_text(re.sub(r'"uploaded": ".*?"', '"uploaded": "2020-01-02T03:04:05Z"', lock.read_text()))
    before, old = lock.read_text(), template_of(file)
    put("weights/dogs.onnx", "wolf")(file)
    write_lock(file)
    kinds = [line.partition('"')[2].partition('"')[0] for line in differing(before, lock.read_text())]
    assert kinds == ["url", "uploaded", "sha256", "sha256"]
    (line,) = differing(old, template_of(file))
    assert re.fullmatch(rf'"ArtifactUrl": "s3://acme-models/dogs/model-sha256-{DIGEST}.tar.gz",?', line)


def test_new_weights_of_one_model_are_a_few_lines_and_no_change_of_the_other_or_of_rights(
    tmp_path: Path,
) -> None:
    file = locked_spec(tmp_path, MODELLED)
    assert found(file) == []
    old = template_of(file)
    put("weights/dogs.onnx", "wolf")(file)
    (problem,) = outdated(file)
    assert (problem.line, problem.path) == (
        24,
        ("models", "dogs", "triton", "models", "net", "files", "1/model.onnx"),
    )
    write_lock(file)
    assert found(file) == []
    (line,) = differing(old, template_of(file))
    assert re.fullmatch(rf'"ModelDataUrl": "s3://acme-models/dogs/model-sha256-{DIGEST}.tar.gz",?', line)


def test_an_archive_in_the_data_source_of_a_model_gets_what_was_uploaded(tmp_path: Path) -> None:
    url = "model_data_url: s3://acme-models/cats/model.tar.gz"
    source = f"{{s3_uri: {AT_CATS}, s3_data_type: S3Object, compression_type: Gzip}}"
    file = locked_spec(tmp_path, MODELLED.replace(url, f"model_data_source: {{s3_data_source: {source}}}"))
    assert found(file) == []
    assert re.search(rf'"S3Uri": "s3://acme-models/cats/model-sha256-{DIGEST}.tar.gz"', template_of(file))


@pytest.mark.parametrize("text", [SEVERAL, MODELLED], ids=["components", "models"])
def test_the_role_may_read_every_version_of_each(text: str, tmp_path: Path) -> None:
    file = locked_spec(tmp_path, text)
    text = template_of(file)
    for name in ("cats", "dogs"):
        assert f"acme-models/{name}/model-sha256-{'?' * 16}.tar.gz" in text


def test_components_that_share_an_archive_share_what_was_uploaded(tmp_path: Path) -> None:
    shared = own("birds", "net", AT_CATS, "# whichever answers")
    file = lay_out_spec(tmp_path, SEVERAL + shared)
    lock = write_lock(file)
    assert found(file) == []
    assert len(json.loads(lock.read_text())["uploads"]) == 2
    assert template_of(file).count("s3://acme-models/cats/model-sha256-") == 2


def test_a_renamed_component_has_the_weights_that_were_uploaded(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, SEVERAL)
    edit("  cats:", "  lions:")(file)
    assert found(file) == []


OTHERS: dict[str, tuple[Change, str, int, str]] = {
    "one more": (
        lambda file: file.write_text(SEVERAL + own("birds", "net")),
        "a.yaml",
        38,
        "nothing was uploaded for s3://acme-models/birds/model.tar.gz",
    ),
    "one less": (
        lambda file: file.write_text(SEVERAL.replace(own("cats", "net"), "")),
        "a.lock.json",
        4,
        f"archives were uploaded for {AT_CATS}, but the spec has no `triton` block for it",
    ),
    "one elsewhere": (
        edit(AT_CATS, "s3://acme-models/lions/model.tar.gz"),
        "a.yaml",
        10,
        f"nothing was uploaded for s3://acme-models/lions/model.tar.gz, only for {AT_CATS}",
    ),
    "other weights of one": (put("weights/dogs.onnx", "wolf"), "a.yaml", 32, "weights/dogs.onnx has different content"),
    "another configuration of one": (edit("dims: [1]", "dims: [2]"), "a.yaml", 14, "with another configuration"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "name", "line", "said"), OTHERS.values(), ids=OTHERS)
def test_what_differs_for_one_component_is_said_once(
    change: Change, name: str, line: int, said: str, tmp_path: Path
) -> None:
    file = locked_spec(tmp_path, SEVERAL)
    change(file)
    (problem,) = outdated(file)
    assert (Path(problem.file).name, problem.line) == (name, line)
    assert said in problem.message


@pytest.mark.parametrize(
    ("text", "lines"), [(SEVERAL, (10, 24)), (MODELLED, (7, 17))], ids=["components", "models"]
)
def test_every_one_with_nowhere_to_go_is_said_at_once(
    text: str, lines: tuple[int, ...], tmp_path: Path
) -> None:
    file = locked_spec(tmp_path, text)
    for name in ("cats", "dogs"):
        edit(f"s3://acme-models/{name}/model.tar.gz", f"'{{{{resolve:ssm:/models/{name}}}}}'")(file)
    assert [(it.line, it.code) for it in found(file)] == [(line, "IS055") for line in lines]


def test_an_archive_that_may_have_two_contents_is_refused(tmp_path: Path) -> None:
    """Neither of two images shows whether the models at the top level are for it."""
    image = "image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"
    plain = "".join(
        f"  {name}:\n    specification:\n      container: {{{image}, artifact_url: {AT_CATS}}}\n"
        "      compute_resource_requirements: {min_memory_required_in_mb: 1024}\n"
        for name in ("lions", "tigers")
    )
    top = ONE[ONE.index("triton:") :]
    file = lay_out_spec(tmp_path, SEVERAL + top)
    (tmp_path / "a.lock.json").write_text('{"version": 1}')
    edit("inference_components:\n", f"inference_components:\n{plain}")(file)
    (problem,) = found(file)
    assert (problem.line, problem.code) == (18, "IS055")
    assert f"{AT_CATS} would hold different models for different containers" in problem.message
