"""A lock beside a spec: what is deployed, and every way in which the two can fail to fit."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.archiving import lay_out
from support.locking import COMPONENTS, MANY, ONE, SEVERAL, lay_out_spec, own, write_lock

from inferstack.resolve import resolve_template
from inferstack.spec.check import check_file, in_region, load_spec, parse_spec
from inferstack.spec.check_files import check_files, spec_files
from inferstack.spec.lock import local, reading
from inferstack.spec.lock.codes import LOCK_CODES
from inferstack.spec.lock.urls import location_of, pattern_of, uploaded_url
from inferstack.spec.problem import Problem, SpecError
from inferstack.spec.triton_blocks import triton_blocks

DIGEST = "[0-9a-f]{16}"
SOURCE = ONE.replace(
    "model_data_url: s3://acme-models/one/model.tar.gz",
    "model_data_source: {s3_data_source: {s3_uri: s3://acme-models/one/model.tar.gz, s3_data_type: S3Object,"
    " compression_type: Gzip}}",
)
ELSEWHERE = ONE.replace("s3://acme-models/one", "s3://models-${AWS::AccountId}-${AWS::Region}/one")
HTTPS = ONE.replace("s3://acme-models/one", "https://acme-models.s3.eu-west-1.amazonaws.com/one")


def urls(file: Path, stage: str | None = None) -> set[str]:
    """Where the deployed stack takes model files from."""
    loaded = load_spec(file, stage=stage)
    template = resolve_template(loaded.spec, region="us-east-1", source_of=str)
    return set(re.findall(r'"(?:ModelDataUrl|S3Uri|ArtifactUrl)": (?:{"Fn::Sub": )?"([^"]*)"', json.dumps(template)))


def found(file: Path, code: str = "IS05") -> list[Problem]:
    return [problem for problem in check_file(file) if problem.code.startswith(code)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE, rf"s3://acme-models/one/model-sha256-{DIGEST}\.tar\.gz"),
        (SOURCE, rf"s3://acme-models/one/model-sha256-{DIGEST}\.tar\.gz"),
        (ELSEWHERE, rf"s3://models-\$\{{AWS::AccountId\}}-\$\{{AWS::Region\}}/one/model-sha256-{DIGEST}\.tar\.gz"),
        (HTTPS, rf"https://acme-models\.s3\.eu-west-1\.amazonaws\.com/one/model-sha256-{DIGEST}\.tar\.gz"),
        (MANY, rf"s3://acme-models/many/sha256-{DIGEST}/"),
    ],
)
def test_what_was_uploaded_is_what_is_deployed(text: str, expected: str, tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, text)
    before = urls(file)
    write_lock(file)
    assert found(file) == []
    (url,) = urls(file)
    assert re.fullmatch(expected, url)
    (location,) = before
    assert re.fullmatch(re.escape(pattern_of(url)).replace(r"\?", "."), url)
    assert url.startswith(location.removesuffix(".tar.gz"))


def test_a_component_gets_what_was_uploaded_and_its_adapter_keeps_its_own(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, COMPONENTS)
    write_lock(file)
    adapter, base = sorted(urls(file))
    assert adapter == "s3://acme-models/adapters/a.tar.gz"
    assert re.fullmatch(rf"s3://acme-models/parts/model-sha256-{DIGEST}\.tar\.gz", base)


def test_what_was_uploaded_stays_where_the_region_comes_from_the_stack(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    assert "-sha256-" in in_region(load_spec(file), "eu-west-1").spec.model.model_data_url


def test_who_packs_sees_the_spec_as_it_is_written(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file).write_text("{")
    loaded = load_spec(file, locked=False)
    assert loaded.spec.model.model_data_url == "s3://acme-models/one/model.tar.gz"


def test_every_model_that_names_the_location_gets_what_was_uploaded(tmp_path: Path) -> None:
    model = "{image: {framework: triton, version: '25.09'}, model_data_url: s3://acme-models/one/model.tar.gz}"
    fleet = "{variant_name: V, model_name: V, instance_type: ml.m5.large, initial_instance_count: 2}"
    head = (
        f"kind: single-model\nendpoint_name: ab\nmodels:\n  A: {model}\n  B: {model}\n"
        f"variants:\n  - {fleet.replace('V', 'A')}\n  - {fleet.replace('V', 'B')}\n"
    )
    file = lay_out_spec(tmp_path, head + ONE[ONE.index("triton:") :])
    write_lock(file)
    (url,) = urls(file)
    assert "-sha256-" in url


def test_without_a_lock_a_spec_is_as_it_is_written(tmp_path: Path) -> None:
    assert urls(lay_out_spec(tmp_path, ONE)) == {"s3://acme-models/one/model.tar.gz"}


def test_a_spec_made_in_python_has_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_lock(lay_out_spec(tmp_path, ONE, "<python>.yaml"))
    data = {
        "kind": "single-model",
        "endpoint_name": "one",
        "model": {"image": {"framework": "triton", "version": "25.09"}, "model_data_url": "s3://b-1/m.tar.gz"},
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    }
    assert parse_spec(data).spec.model.model_data_url == "s3://b-1/m.tar.gz"


def test_new_weights_are_another_url_and_old_ones_the_old_url_again(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    lock = write_lock(file)
    old, text = urls(file), lock.read_text()
    (tmp_path / "weights/net.onnx").write_text("dogs")
    write_lock(file)
    new = urls(file)
    assert new != old
    (tmp_path / "weights/net.onnx").write_text("cats")
    lock.write_text(text)
    assert urls(file) == old


def test_one_new_archive_gives_the_whole_set_a_new_prefix(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, MANY)
    write_lock(file)
    old = urls(file)
    (tmp_path / "weights/dogs.onnx").write_text("birds")
    write_lock(file)
    assert urls(file) != old


def test_the_same_content_leaves_the_same_bytes(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, MANY)
    lock = write_lock(file)
    lock.write_text(re.sub(r'"uploaded": ".*?"', '"uploaded": "2020-01-02T03:04:05Z"', lock.read_text()))
    before = lock.read_bytes()
    write_lock(file)
    assert lock.read_bytes() == before


# What changes after an upload -> where that is said, and a part of what is said.
Change = Callable[[Path], object]


def edit(old: str, new: str) -> Change:
    def change(file: Path) -> None:
        text = file.read_text()
        assert text.count(old) >= 1
        file.write_text(text.replace(old, new, 1))

    return change


def put(path: str, content: str) -> Change:
    return lambda file: (file.parent / path).write_text(content)


def without_triton(file: Path) -> None:
    text = file.read_text()
    file.write_text(text[: text.index("triton:\n")])


STALE = {
    "another configuration": (ONE, edit("dims: [1]", "dims: [2]"), 9, "with another configuration"),
    "another file": (ONE, edit("weights/net.onnx", "weights/dogs.onnx"), 13, "from weights/net.onnx, not from"),
    "another folder": (ONE, edit("weights/labels", "weights/words"), 13, "not from weights/words/de.txt"),
    "one more file": (ONE, edit("files: {", "files: {more.txt: weights/dogs.onnx, "), 13, "net/more.txt was not uploaded"),
    "one file less": (ONE, edit(", labels: weights/labels", ""), 7, "net/labels/de.txt was uploaded"),
    "another model": (ONE, edit("net:", "other:"), 9, "the model `other` was not uploaded"),
    "another url": (ONE, edit("one/model", "two/model"), 5, "nothing was uploaded for s3://acme-models/two/model.tar.gz, only"),
    "another size": (ONE, put("weights/net.onnx", "lions"), 13, "weights/net.onnx has 5 bytes, 4 were uploaded"),
    "another content": (ONE, put("weights/net.onnx", "dogs"), 13, "weights/net.onnx has another content"),
    "another content in a folder": (ONE, put("weights/labels/en.txt", "dog"), 13, "weights/labels/en.txt has another"),
    "one more in a folder": (ONE, put("weights/labels/fr.txt", "chat"), 13, "weights/labels/fr.txt was not uploaded"),
    "another name of an archive": (MANY, edit("dogs.tar.gz", "wolves.tar.gz"), 16, "wolves.tar.gz was not uploaded"),
    "one archive less": (
        MANY,
        lambda file: file.write_text(file.read_text()[: file.read_text().index("    dogs.tar.gz")]),
        8,
        "dogs.tar.gz was uploaded, and the spec has it no longer",
    ),
    "another content of one archive": (MANY, put("weights/dogs.onnx", "wolf"), 22, "weights/dogs.onnx has another"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "change", "line", "said"), STALE.values(), ids=STALE)
def test_what_is_not_what_was_uploaded_is_an_error_that_says_what_to_run(
    text: str, change: Change, line: int, said: str, tmp_path: Path
) -> None:
    file = lay_out_spec(tmp_path, text)
    write_lock(file)
    change(file)
    (problem,) = [problem for problem in found(file) if said in problem.message]
    assert (problem.file, problem.line, problem.code) == (file.as_posix(), line, "IS054")
    assert problem.fix == f"run `inferstack package {file.as_posix()} --upload`, and commit a.lock.json"
    with pytest.raises(SpecError, match="IS054"):
        load_spec(file)
    write_lock(file)
    assert found(file) == []


def test_a_pointer_to_other_weights_than_were_uploaded_is_noticed(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    put("weights/net.onnx", f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4\n")(file)
    (problem,) = found(file)
    assert "has 126 bytes, 4 were uploaded" in problem.message


def remove_weights(file: Path) -> None:
    shutil.rmtree(file.parent / "weights")


def leave_pointers(file: Path) -> None:
    for path in (file.parent / "weights").rglob("*.*"):
        content = path.read_bytes()
        oid = hashlib.sha256(content).hexdigest()
        path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n")


RIGHT = {
    "nothing": (ONE, lambda _: None),
    "no weights": (ONE, remove_weights),
    "no weights of many": (MANY, remove_weights),
    "pointers of Git LFS": (ONE, leave_pointers),
    "a comment": (ONE, edit("kind:", "# new\nkind:")),
    "a new time": (ONE, lambda file: (file.parent / "weights/net.onnx").touch()),
    "junk": (ONE, put("weights/labels/.DS_Store", "")),
    "another fleet": (ONE, edit("ml.m5.large", "ml.m5.xlarge")),
    "some labels less": (ONE, lambda file: (file.parent / "weights/labels/de.txt").unlink()),
}


@pytest.mark.parametrize(("text", "change"), RIGHT.values(), ids=RIGHT)
def test_what_is_as_it_was_uploaded_is_none(text: str, change: Change, tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, text)
    write_lock(file)
    change(file)
    assert found(file) == []


def test_large_files_are_compared_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    put("weights/net.onnx", "dogs")(file)
    assert len(found(file)) == 1
    monkeypatch.setattr(local, "LARGEST_READ", 3)
    assert found(file) == []


# ---------------------------------------------------------------- existing repositories


@pytest.fixture
def existing(tmp_path: Path) -> Path:
    file = lay_out_spec(tmp_path, ONE[: ONE.index("  models:")] + "  repository: models\n")
    folder = tmp_path / "models/net/1"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_text("cats")
    (folder / "vocabulary.txt").write_text("cat")
    (folder.parent / "config.pbtxt").write_text('platform: "onnxruntime_onnx"\n')
    write_lock(file)
    return file


@pytest.mark.parametrize(
    ("path", "content"),
    [("net/config.pbtxt", 'platform: "onnxruntime_onnx" max_batch_size: 4'), ("net/1/model.onnx", "dogs")],
)
def test_an_existing_repository_is_compared_file_by_file(path: str, content: str, existing: Path) -> None:
    assert found(existing) == []
    (existing.parent / "models" / path).write_text(content)
    (problem,) = found(existing, "IS054")
    assert f"models/{path} has" in problem.message
    assert problem.file == (existing.parent / "models/net/config.pbtxt").as_posix()


def test_a_model_that_is_gone_from_a_repository_is_noticed(existing: Path) -> None:
    (existing.parent / "models/net").rename(existing.parent / "models/cat")
    assert found(existing, "IS054")


@pytest.mark.parametrize("gone", ["models", "models/net/1/vocabulary.txt"])
def test_what_is_not_in_this_copy_of_a_repository_is_taken_as_uploaded(gone: str, existing: Path) -> None:
    path = existing.parent / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert found(existing) == []
    assert "-sha256-" in urls(existing).pop()


def test_the_lock_vouches_for_weights_that_a_pipeline_does_not_have(existing: Path) -> None:
    shutil.rmtree(existing.parent / "models/net/1")
    assert found(existing, "IS") == []
    assert "-sha256-" in urls(existing).pop()
    assert in_region(load_spec(existing), "eu-west-1").spec.endpoint_name == "one"


def test_the_lock_vouches_for_the_empty_version_of_an_ensemble_that_git_does_not_keep(existing: Path) -> None:
    tensors = 'input { name: "X" data_type: TYPE_FP32 dims: 1 } output { name: "Y" data_type: TYPE_FP32 dims: 1 }\n'
    maps = 'input_map { key: "X" value: "X" } output_map { key: "Y" value: "Y" }'
    step = f'ensemble_scheduling {{ step {{ model_name: "net" model_version: -1 {maps} }} }}'
    models = existing.parent / "models"
    (models / "whole/1").mkdir(parents=True)
    (models / "whole/config.pbtxt").write_text(f'platform: "ensemble" max_batch_size: 0\n{tensors}{step}')
    (models / "net/config.pbtxt").write_text(f'platform: "onnxruntime_onnx"\n{tensors}')
    edit("repository: models", "repository: models\n  default_model: whole")(existing)
    write_lock(existing)
    (models / "whole/1").rmdir()
    assert found(existing, "IS") == []
    existing.with_name("a.lock.json").unlink()
    assert found(existing, "IS907")


def test_whoever_packs_needs_the_weights_themselves(existing: Path) -> None:
    (existing.parent / "models/net/1/model.onnx").unlink()
    with pytest.raises(SpecError, match=r"IS910: version 1 of net lacks `model\.onnx`"):
        load_spec(existing, locked=False)


def test_the_lock_vouches_for_what_was_uploaded_only(existing: Path) -> None:
    folder = existing.parent / "models/net"
    (folder / "config.pbtxt").write_text('platform: "onnxruntime_onnx" default_model_filename: "other.onnx"\n')
    (folder / "1/model.onnx").unlink()
    assert found(existing, "IS910")


# ---------------------------------------------------------------- the lock itself


def changed(*path: str, to: object) -> Change:
    def change(lock: Path) -> None:
        data: Any = json.loads(lock.read_text())
        inner = data
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to
        lock.write_text(json.dumps(data, indent=1))

    return change


def replaced_by(content: bytes) -> Change:
    return lambda lock: lock.write_bytes(content)


def conflicting(lock: Path) -> None:
    ours, _, theirs = lock.read_text().partition("\n")
    lock.write_text(f"{ours}\n<<<<<<< HEAD\n{theirs}=======\n{theirs}>>>>>>> other\n")


def a_folder(lock: Path) -> None:
    lock.unlink()
    lock.mkdir()


def twice(lock: Path) -> None:
    text = lock.read_text()
    lock.write_text(text.replace('   "url":', '   "url": "s3://x/",\n   "url":'))


UPLOAD = ("uploads", "s3://acme-models/one/model.tar.gz")
ARCHIVE = (*UPLOAD, "archives", "model.tar.gz")
WRONG = {
    "no JSON": (replaced_by(b'{\n "version": 1,\n}'), 3, "IS051", "not JSON"),
    "empty": (replaced_by(b""), 1, "IS051", "not JSON"),
    "no mapping": (replaced_by(b"[]"), 1, "IS051", "no lock"),
    "endless nesting": (replaced_by(b"[" * 100_000), 1, "IS051", "endless"),
    "an endless number": (replaced_by(b"1" * 10_000), 1, "IS051", "endless"),
    "not UTF-8": (replaced_by(b"\xff\xfe{}"), 1, "IS050", "UTF-8"),
    "a folder": (a_folder, 1, "IS050", "no regular file"),
    "markers of a merge": (conflicting, 2, "IS051", "conflict markers"),
    "a key twice": (twice, 6, "IS051", '"url" twice'),
    "a newer form": (changed("version", to=2), 2, "IS052", "version 2"),
    "a form that never was": (changed("version", to=0), 1, "IS051", "version"),
    "half a character": (changed(*UPLOAD, "archives", "\ud800", to={}), 1, "IS051", "half a character"),
    "half a character in a key": (changed("\udfff", to=1), 1, "IS051", "half a character"),
    "no version": (changed("version", to=None), 1, "IS051", "version"),
    "an unknown key": (changed("uplaod", to={}), 1, "IS051", "uplaod"),
    "a size below zero": (changed(*ARCHIVE, "size", to=-1), 1, "IS051", "size"),
    "a digest that is none": (changed(*ARCHIVE, "sha256", to="abc"), 1, "IS051", "sha256"),
    "no archives": (changed(*UPLOAD, "archives", to={}), 1, "IS051", "archives"),
    "another digest": (changed(*ARCHIVE, "sha256", to="0" * 64), 5, "IS053", "is not where these archives are"),
    "another bucket": (changed(*UPLOAD, "url", to="s3://evil/one/model.tar.gz"), 5, "IS053", "s3://evil/one"),
    "two archives for one": (
        changed(*UPLOAD, "archives", "b.tar.gz", to={"size": 1, "sha256": "0" * 64, "files": {}}),
        5,
        "IS051",
        "is one archive",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "line", "code", "said"), WRONG.values(), ids=WRONG)
def test_a_lock_that_is_none_is_refused_where_it_is_wrong(
    change: Change, line: int, code: str, said: str, tmp_path: Path
) -> None:
    file = lay_out_spec(tmp_path, ONE)
    lock = write_lock(file)
    change(lock)
    (problem,) = found(file)
    assert (problem.file, problem.line, problem.code) == (lock.as_posix(), line, code)
    assert said in problem.message
    assert problem.fix


def test_a_lock_that_another_program_wrote_out_again_is_read(tmp_path: Path) -> None:
    """Some write every character that is not ASCII as two escapes."""
    file = lay_out_spec(tmp_path, ONE.replace("1/model.onnx:", "1/\U0001f600.onnx: weights/net.onnx, 1/model.onnx:"))
    lock = write_lock(file)
    assert "\\ud83d" not in lock.read_text("utf-8")
    lock.write_text(json.dumps(json.loads(lock.read_text("utf-8"))))
    assert "\\ud83d" in lock.read_text("utf-8")
    assert found(file) == []


def test_a_lock_of_endless_length_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    monkeypatch.setattr(reading, "LARGEST", 100)
    (problem,) = found(file)
    assert (problem.code, "larger than 100 bytes" in problem.message) == ("IS050", True)


def test_a_lock_of_a_spec_without_models_says_that_it_is_left_over(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    lock = write_lock(file)
    without_triton(file)
    (problem,) = found(file)
    assert (problem.file, problem.line, problem.code) == (lock.as_posix(), 4, "IS054")


def test_problems_of_spec_and_lock_are_said_together(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    edit("initial_instance_count: 2", "initial_instance_count: 2, volume_size_in_gb: 8")(file)
    edit("ml.m5.large", "ml.g5.xlarge")(file)
    edit("weights/net.onnx", "weights/dogs.onnx")(file)
    assert {"IS054", "IS263"} <= {problem.code for problem in check_file(file)}


# ---------------------------------------------------------------- destinations

CONTAINERS = {
    "none": ("  model_data_url: s3://acme-models/one/model.tar.gz\n", "", 6, "no container says"),
    "only the deployment knows": (
        "s3://acme-models/one/model.tar.gz",
        "'{{resolve:ssm:/models/one}}'",
        5,
        "only a deployment knows",
    ),
}


@pytest.mark.parametrize(("old", "new", "line", "said"), CONTAINERS.values(), ids=CONTAINERS)
def test_archives_without_one_place_to_go_are_refused(
    old: str, new: str, line: int, said: str, tmp_path: Path
) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    edit(old, new)(file)
    (problem,) = found(file)
    assert (problem.line, problem.code) == (line, "IS055")
    assert said in problem.message


def test_archives_with_two_places_to_go_are_refused(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, COMPONENTS)
    write_lock(file)
    second = (
        "  second:\n    specification:\n"
        "      container: {image: {framework: triton, version: '25.09'}, artifact_url: s3://acme-models/b.tar.gz}\n"
        "      compute_resource_requirements: {min_memory_required_in_mb: 1024}\n"
    )
    edit("  adapter:\n", f"{second}  adapter:\n")(file)
    (problem,) = found(file)
    assert (problem.line, problem.code) == (11, "IS055")
    assert "`s3://acme-models/parts/model.tar.gz` or `s3://acme-models/b.tar.gz`" in problem.message


# ---------------------------------------------------------------- several destinations

AT_CATS = "s3://acme-models/cats/model.tar.gz"


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


def test_archives_are_packed_under_the_same_names_as_before_the_upload(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    write_lock(file)
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
        lay_out(tmp_path, {f"{name}/net/1/model.onnx": name, f"{name}/net/config.pbtxt": 'platform: "onnxruntime_onnx"\n'})
    write_lock(file)
    for name in ("cats", "dogs"):
        shutil.rmtree(tmp_path / name / "net/1")
    assert found(file, "IS") == []
    assert in_region(load_spec(file), "eu-west-1").spec.endpoint_name == "several"


def differing(old: str, new: str) -> list[str]:
    """The new lines, where as many lines are old."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=True)
    return [one.strip() for before, one in pairs if before != one]


def test_new_weights_of_one_component_are_a_few_lines_and_no_change_of_the_other_or_of_rights(tmp_path: Path) -> None:
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


def template_of(file: Path) -> str:
    return json.dumps(resolve_template(load_spec(file).spec, region="us-east-1", source_of=str), indent=1)


def test_the_role_may_read_every_version_of_each(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    write_lock(file)
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
    file = lay_out_spec(tmp_path, SEVERAL)
    write_lock(file)
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
        f"archives were uploaded for {AT_CATS}, and the spec has no `triton` block for it",
    ),
    "one elsewhere": (
        edit(AT_CATS, "s3://acme-models/lions/model.tar.gz"),
        "a.yaml",
        10,
        f"nothing was uploaded for s3://acme-models/lions/model.tar.gz, only for {AT_CATS}",
    ),
    "other weights of one": (put("weights/dogs.onnx", "wolf"), "a.yaml", 32, "weights/dogs.onnx has another content"),
    "another configuration of one": (edit("dims: [1]", "dims: [2]"), "a.yaml", 14, "with another configuration"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "name", "line", "said"), OTHERS.values(), ids=OTHERS)
def test_what_differs_for_one_component_is_said_once(
    change: Change, name: str, line: int, said: str, tmp_path: Path
) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    write_lock(file)
    change(file)
    (problem,) = found(file)
    assert (Path(problem.file).name, problem.line, problem.code) == (name, line, "IS054")
    assert said in problem.message
    assert problem.fix == f"run `inferstack package {file.as_posix()} --upload`, and commit a.lock.json"
    write_lock(file)
    assert found(file) == []


def test_every_component_with_nowhere_to_go_is_said_at_once(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, SEVERAL)
    write_lock(file)
    for name in ("cats", "dogs"):
        edit(f"s3://acme-models/{name}/model.tar.gz", f"'{{{{resolve:ssm:/models/{name}}}}}'")(file)
    assert [(it.line, it.code) for it in found(file)] == [(10, "IS055"), (24, "IS055")]


def test_an_archive_that_may_have_two_contents_is_refused(tmp_path: Path) -> None:
    """Neither of two images says whether the models at the top are for it."""
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
    assert f"{AT_CATS} would hold other models for one container than for another" in problem.message


# ---------------------------------------------------------------- stages


def test_a_stage_without_an_upload_of_its_own_has_that_of_the_spec(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {prod: {variant: {initial_instance_count: 4}}}\n")
    write_lock(file)
    assert urls(file, "prod") == urls(file)
    assert found(file) == []


def test_a_stage_with_another_bucket_needs_an_upload_of_its_own(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {prod: {model: {model_data_url: s3://acme-prod/model.tar.gz}}}\n")
    write_lock(file)
    (problem,) = found(file)
    assert "for the stage `prod`" in problem.message
    assert "--stage prod --upload" in problem.fix
    write_lock(file, "prod")
    assert found(file) == []
    assert urls(file, "prod").pop().startswith("s3://acme-prod/model-sha256-")
    assert urls(file).pop().startswith("s3://acme-models/one/model-sha256-")


def test_a_stage_with_other_weights_keeps_them_apart(tmp_path: Path) -> None:
    prod = "stages: {prod: {triton: {models: {net: {files: {1/model.onnx: weights/dogs.onnx}}}}}}\n"
    file = lay_out_spec(tmp_path, ONE + prod)
    write_lock(file)
    assert "from weights/net.onnx, not from weights/dogs.onnx" in found(file)[0].message
    write_lock(file, "prod")
    assert urls(file, "prod") != urls(file)


def test_a_spec_that_is_uploaded_for_stages_only_is_deployed_for_stages_only(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {dev: {}, prod: {}}\n")
    write_lock(file, "dev")
    write_lock(file, "prod")
    assert found(file) == []
    with pytest.raises(SpecError, match="nothing was uploaded for"):
        load_spec(file)


def test_what_a_stage_no_longer_has_is_said_where_the_lock_has_it_for_the_stage(tmp_path: Path) -> None:
    stages = "stages: {prod: {inference_components: {}}}\n"
    file = lay_out_spec(tmp_path, SEVERAL + stages)
    write_lock(file)
    lock = write_lock(file, "prod")
    edit("{inference_components: {}}", "{inference_components: {cats: null}}")(file)
    (problem,) = found(file)
    before = lock.read_text().splitlines()[: problem.line]
    assert AT_CATS in before[-1]
    assert ' "stages": {' in before
    assert "--stage prod --upload" in problem.fix
    write_lock(file, "prod")
    assert found(file) == []


def test_uploads_of_stages_that_are_gone_leave_the_lock(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {dev: {}, prod: {}}\n")
    write_lock(file, "dev")
    lock = write_lock(file, "prod")
    edit("dev: {}, ", "")(file)
    write_lock(file, "prod")
    assert list(json.loads(lock.read_text())["stages"]) == ["prod"]


# ---------------------------------------------------------------- beside


def test_a_folder_of_specs_leaves_locks_alone(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file)
    assert spec_files(tmp_path) == (file,)


def test_a_lock_that_is_named_as_a_spec_is_recognised(tmp_path: Path) -> None:
    lock = write_lock(lay_out_spec(tmp_path, ONE))
    (problem,) = check_files([lock])
    assert (problem.code, problem.fix) == ("IS056", f"name {(tmp_path / 'a.yaml').as_posix()}")


@pytest.mark.parametrize("location", ["s3://b/one/model.tar.gz", "s3://b/many/", "s3://b/x-sha256-0123456789abcdef.tar.gz"])
def test_versions_of_one_thing_have_one_pattern(location: str) -> None:
    one, two = (uploaded_url(location, digit * 64) for digit in "ab")
    assert one != two
    assert pattern_of(one) == pattern_of(two) == one.replace("a" * 16, "?" * 16)
    assert location_of(one) == location


@pytest.mark.parametrize("url", ["s3://b/one/model.tar.gz", "s3://b/model-0123456789abcdef.tar.gz", "s3://b/sha256-0123/"])
def test_any_other_url_is_no_version(url: str) -> None:
    assert pattern_of(url) is None
    assert location_of(url) == url


def test_every_code_of_locks_is_shown_here() -> None:
    shown = {code for _, _, code, _ in WRONG.values()} | {"IS054", "IS055", "IS056"}
    assert shown == set(LOCK_CODES)
