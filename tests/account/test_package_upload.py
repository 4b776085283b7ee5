"""``inferstack package --upload`` as a user meets it: what exists afterwards, and what is printed."""

import json
from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import COMPONENTS, MANY, MODELLED, ONE, SEVERAL, own
from support.program import Command
from support.s3 import ACCOUNT, BUCKET, Cloud, Faults

from inferstack.check.load import load_spec


def upload() -> dict[str, object]:
    (only,) = uploads().values()
    return only


def uploads() -> dict[str, dict[str, object]]:
    return json.loads(Path("a.lock.json").read_text("utf-8"))["uploads"]


def test_an_archive_is_uploaded_and_the_lock_says_where(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    assert package() == 0
    ((key, content),) = cloud.objects().items()
    assert content == Path("packages/a/model.tar.gz").read_bytes()
    assert upload()["url"] == f"s3://{BUCKET}/{key}"
    assert load_spec("a.yaml").spec.model.model_data_url == upload()["url"]
    said = capsys.readouterr()
    assert said.out.endswith(f"\ns3://{BUCKET}/{key}\n  uploaded\n")
    assert said.err == "a.lock.json: written; commit it with a.yaml\n"


def test_a_second_run_sends_nothing_and_leaves_the_lock_as_it_is(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    package()
    lock = Path("a.lock.json")
    lock.write_text(lock.read_text().replace('"uploaded": "20', '"uploaded": "19'))
    before = (lock.read_bytes(), lock.stat().st_mtime_ns)
    capsys.readouterr()
    assert package() == 0
    assert faults.operations().count("PutObject") == 1
    assert (lock.read_bytes(), lock.stat().st_mtime_ns) == before
    said = capsys.readouterr()
    assert said.out.endswith("  was there already\n")
    assert said.err == "a.lock.json: unchanged\n"


def test_new_weights_stand_beside_the_old_ones(package: Command, cloud: Cloud) -> None:
    package()
    old = cloud.objects()
    Path("weights/net.onnx").write_text("dogs")
    package()
    new = cloud.objects()
    assert len(new) == 2
    assert new.items() > old.items()


def test_archives_of_a_multi_model_endpoint_keep_their_names_in_a_folder_of_their_own(
    package: Command, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(MANY)
    assert package() == 0
    url = str(upload()["url"])
    assert {f"s3://{BUCKET}/{key}" for key in cloud.objects()} == {f"{url}cats.tar.gz", f"{url}dogs.tar.gz"}
    Path("weights/dogs.onnx").write_text("wolf")
    assert package() == 0
    assert len(cloud.objects()) == 4
    assert upload()["url"] != url


def test_an_archive_that_did_not_change_is_copied_into_the_folder_of_the_new_set(
    package: Command, cloud: Cloud, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(MANY)
    package()
    former = str(upload()["url"])
    Path("weights/dogs.onnx").write_text("wolf")
    # Also under another name: what counts is the content.
    Path("a.yaml").write_text(MANY.replace("cats.tar.gz", "felines.tar.gz"))
    faults.seen.clear()
    capsys.readouterr()
    assert package() == 0
    assert (faults.operations().count("CopyObject"), faults.operations().count("PutObject")) == (1, 1)
    assert f"{upload()['url']}felines.tar.gz\n  copied from {former}cats.tar.gz\n" in capsys.readouterr().out
    found = {f"s3://{BUCKET}/{key}": content for key, content in cloud.objects().items()}
    assert found[f"{upload()['url']}felines.tar.gz"] == found[f"{former}cats.tar.gz"]
    assert check_file("a.yaml") == []


def test_a_former_set_that_is_gone_is_sent_again(package: Command, cloud: Cloud, faults: Faults) -> None:
    Path("a.yaml").write_text(MANY)
    package()
    for key in cloud.objects():
        cloud.s3.delete_object(Bucket=BUCKET, Key=key)
    Path("weights/dogs.onnx").write_text("wolf")
    faults.seen.clear()
    assert package() == 0
    assert faults.operations().count("PutObject") == len(cloud.objects()) == 2


def test_archives_that_others_put_under_a_prefix_are_pointed_out_before_they_are_missed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(MANY)
    for name in ("cats.tar.gz", "birds.tar.gz", "fish.tar.gz", "about.txt"):
        cloud.s3.put_object(Bucket=BUCKET, Key=f"many/{name}", Body=b"")
    package()
    assert (
        "note: birds.tar.gz and 1 more under s3://acme-models/many/ did not come" in capsys.readouterr().err
    )
    package()
    assert "note" not in capsys.readouterr().err


def test_an_inference_component_is_uploaded(package: Command, cloud: Cloud) -> None:
    Path("a.yaml").write_text(COMPONENTS)
    assert package() == 0
    (key,) = cloud.objects()
    assert key.startswith("parts/model-sha256-")


def test_each_component_is_uploaded_to_its_own_place(package: Command, cloud: Cloud) -> None:
    cloud.bucket("acme-dogs")
    Path("a.yaml").write_text(SEVERAL.replace(f"{BUCKET}/dogs", "acme-dogs/dogs"))
    assert package() == 0
    ((cats, content),) = cloud.objects().items()
    assert content == Path("packages/a/cats/model.tar.gz").read_bytes()
    ((dogs, content),) = cloud.objects("acme-dogs").items()
    assert content == Path("packages/a/dogs/model.tar.gz").read_bytes()
    assert [it["url"] for it in uploads().values()] == [f"s3://acme-dogs/{dogs}", f"s3://{BUCKET}/{cats}"]
    assert check_file("a.yaml") == []


def test_each_model_of_components_is_uploaded_to_its_own_place(package: Command, cloud: Cloud) -> None:
    Path("a.yaml").write_text(MODELLED)
    assert package() == 0
    objects = cloud.objects()
    for name in ("cats", "dogs"):
        key = str(uploads()[f"s3://{BUCKET}/{name}/model.tar.gz"]["url"]).removeprefix(f"s3://{BUCKET}/")
        assert objects.pop(key) == Path(f"packages/a/models/{name}/model.tar.gz").read_bytes()
    assert not objects
    assert check_file("a.yaml") == []
    spec = load_spec("a.yaml").spec
    deployed = {
        f"s3://{BUCKET}/{name}/model.tar.gz": model.model_data_url for name, model in spec.models.items()
    }
    assert deployed == {location: it["url"] for location, it in uploads().items()}


@pytest.mark.parametrize("text", [SEVERAL, MODELLED], ids=["components", "models"])
def test_new_weights_of_one_send_one_archive(
    text: str, package: Command, faults: Faults, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(text)
    package()
    before = uploads()
    Path("weights/dogs.onnx").write_text("wolf")
    assert package() == 0
    assert faults.operations().count("PutObject") == 3
    assert len(cloud.objects()) == 3
    changed = [location for location, it in uploads().items() if it != before[location]]
    assert changed == [f"s3://{BUCKET}/dogs/model.tar.gz"]


def test_an_archive_that_components_share_is_sent_once(
    package: Command, faults: Faults, cloud: Cloud
) -> None:
    shared = own("birds", "net", f"s3://{BUCKET}/cats/model.tar.gz", "# whichever answers")
    Path("a.yaml").write_text(SEVERAL + shared)
    assert package() == 0
    assert faults.operations().count("PutObject") == len(cloud.objects()) == 2
    assert check_file("a.yaml") == []


def test_an_upload_that_fails_halfway_leaves_the_lock_as_it_was_and_is_continued(
    package: Command, faults: Faults, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(SEVERAL)
    faults.answers["PutObject"] = [None, (400, "ExpiredToken", "The token is expired.")]
    assert package() == 1
    assert len(cloud.objects()) == 1
    assert not Path("a.lock.json").exists()
    faults.answers.clear()
    faults.seen.clear()
    assert package() == 0
    assert faults.operations().count("PutObject") == 1
    assert check_file("a.yaml") == []


def test_a_bucket_that_only_one_component_lacks_is_noticed_before_anything_is_packed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(SEVERAL.replace(f"{BUCKET}/dogs", "acme-dogs/dogs"))
    assert package() == 1
    assert "the bucket acme-dogs cannot be used" in capsys.readouterr().err
    assert not Path("packages").exists()
    assert cloud.objects() == {}


def test_a_bucket_may_be_named_by_account_and_region(package: Command, cloud: Cloud) -> None:
    Path("a.yaml").write_text(ONE.replace(BUCKET, "m-${AWS::AccountId}-${AWS::Region}"))
    cloud.bucket(f"m-{ACCOUNT}-us-east-1")
    assert package() == 0
    assert len(cloud.objects(f"m-{ACCOUNT}-us-east-1")) == 1
    assert str(upload()["url"]).startswith("s3://m-${AWS::AccountId}-${AWS::Region}/one/model-sha256-")


def test_a_stage_has_an_upload_of_its_own(package: Command, cloud: Cloud) -> None:
    cloud.bucket("acme-prod")
    prod = "stages: {prod: {model: {model_data_url: s3://acme-prod/model.tar.gz}}}\n"
    Path("a.yaml").write_text(ONE + prod)
    assert package() == package("--stage", "prod") == 0
    assert len(cloud.objects()) == len(cloud.objects("acme-prod")) == 1
    assert check_file("a.yaml") == []


def test_a_spec_without_models_uploads_nothing(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(ONE[: ONE.index("triton:")])
    assert package() == 0
    assert "nothing to package" in capsys.readouterr().err
    assert not Path("a.lock.json").exists()


def test_archives_that_somebody_else_made_are_not_uploaded(package: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        package("--check", "packages/a/model.tar.gz")
    assert ended.value.code == 2
