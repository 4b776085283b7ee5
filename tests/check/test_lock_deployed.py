"""A spec with a lock deploys what was uploaded, under URLs that distinguish versions."""

import re
from pathlib import Path

import pytest
from support.locked_specs import DIGEST, found, locked_spec, urls
from support.locking import COMPONENTS, IMAGE, MANY, ONE, lay_out_spec, write_lock

from inferstack.check.in_stack import in_place
from inferstack.check.load import load_spec, parse_spec, ruled
from inferstack.texts.s3_urls import location_of, pattern_of, uploaded_url

SOURCE = ONE.replace(
    "model_data_url: s3://acme-models/one/model.tar.gz",
    "model_data_source: {s3_data_source: {s3_uri: s3://acme-models/one/model.tar.gz, s3_data_type: S3Object,"
    " compression_type: Gzip}}",
)
ELSEWHERE = ONE.replace("s3://acme-models/one", "s3://models-${AWS::AccountId}-${AWS::Region}/one")
HTTPS = ONE.replace("s3://acme-models/one", "https://acme-models.s3.eu-west-1.amazonaws.com/one")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE, rf"s3://acme-models/one/model-sha256-{DIGEST}\.tar\.gz"),
        (SOURCE, rf"s3://acme-models/one/model-sha256-{DIGEST}\.tar\.gz"),
        (
            ELSEWHERE,
            rf"s3://models-\$\{{AWS::AccountId\}}-\$\{{AWS::Region\}}/one/model-sha256-{DIGEST}\.tar\.gz",
        ),
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
    file = locked_spec(tmp_path, COMPONENTS)
    adapter, base = sorted(urls(file))
    assert adapter == "s3://acme-models/adapters/a.tar.gz"
    assert re.fullmatch(rf"s3://acme-models/parts/model-sha256-{DIGEST}\.tar\.gz", base)


def test_the_model_of_a_component_gets_what_was_uploaded(tmp_path: Path) -> None:
    own = f"models: {{net: {{{IMAGE}, model_data_url: s3://acme-models/parts/model.tar.gz}}}}\ninference_components:\n"
    container = f"container: {{{IMAGE}, artifact_url: s3://acme-models/parts/model.tar.gz}}"
    text = COMPONENTS.replace("inference_components:\n", own).replace(container, "model_name: net")
    file = locked_spec(tmp_path, text)
    assert found(file) == []
    adapter, model = sorted(urls(file))
    assert adapter == "s3://acme-models/adapters/a.tar.gz"
    assert re.fullmatch(rf"s3://acme-models/parts/model-sha256-{DIGEST}\.tar\.gz", model)


def test_what_was_uploaded_stays_where_the_region_comes_from_the_stack(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE)
    assert "-sha256-" in ruled(in_place(load_spec(file), None, "eu-west-1")).spec.model.model_data_url


def test_who_packs_sees_the_spec_as_it_is_written(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    write_lock(file).write_text("{")
    loaded = load_spec(file, locked=False)
    assert loaded.spec.model.model_data_url == "s3://acme-models/one/model.tar.gz"


def test_every_model_that_names_the_location_gets_what_was_uploaded(tmp_path: Path) -> None:
    model = (
        "{image: {framework: triton, version: '25.09'}, model_data_url: s3://acme-models/one/model.tar.gz}"
    )
    fleet = "{variant_name: V, model_name: V, instance_type: ml.m5.large, initial_instance_count: 2}"
    head = (
        f"kind: single-model\nendpoint_name: ab\nmodels:\n  A: {model}\n  B: {model}\n"
        f"variants:\n  - {fleet.replace('V', 'A')}\n  - {fleet.replace('V', 'B')}\n"
    )
    file = locked_spec(tmp_path, head + ONE[ONE.index("triton:") :])
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
        "model": {
            "image": {"framework": "triton", "version": "25.09"},
            "model_data_url": "s3://b-1/m.tar.gz",
        },
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
    file = locked_spec(tmp_path, MANY)
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


@pytest.mark.parametrize(
    "location", ["s3://b/one/model.tar.gz", "s3://b/many/", "s3://b/x-sha256-0123456789abcdef.tar.gz"]
)
def test_versions_of_one_thing_have_one_pattern(location: str) -> None:
    one, two = (uploaded_url(location, digit * 64) for digit in "ab")
    assert one != two
    assert pattern_of(one) == pattern_of(two) == one.replace("a" * 16, "?" * 16)
    assert location_of(one) == location


@pytest.mark.parametrize(
    "url", ["s3://b/one/model.tar.gz", "s3://b/model-0123456789abcdef.tar.gz", "s3://b/sha256-0123/"]
)
def test_any_other_url_is_no_version(url: str) -> None:
    assert pattern_of(url) is None
    assert location_of(url) == url
