import pytest

from inferstack.catalog import instances
from inferstack.catalog.instances import InstanceType
from tools.instances import KNOWN_MISSING


def found(name: str) -> InstanceType:
    instance_type = instances.find(name)
    assert instance_type is not None
    return instance_type


def test_an_instance_type_has_the_facts_of_its_row() -> None:
    assert found("ml.g5.12xlarge") == InstanceType(
        name="ml.g5.12xlarge",
        vcpus=48,
        memory_mib=196608,
        gpus=4,
        gpu_memory_mib_each=22888,
        gpu_name="a10g",
        accelerators=0,
        accelerator_name=None,
        local_nvme_gb=3800,
    )


@pytest.mark.parametrize(
    ("name", "family", "devices", "local_nvme"),
    [
        ("ml.g5.12xlarge", "g5", 4, True),
        ("ml.inf2.24xlarge", "inf2", 6, False),
        ("ml.m5.large", "m5", 0, False),
        ("ml.m5d.large", "m5d", 0, True),
        ("ml.p6-b200.48xlarge", "p6-b200", 8, True),
    ],
)
def test_what_follows_from_the_facts(name: str, family: str, devices: int, local_nvme: bool) -> None:
    it = found(name)
    assert (it.family, it.accelerator_devices, it.has_local_nvme) == (family, devices, local_nvme)


def test_an_unknown_type_is_none() -> None:
    assert instances.find("ml.g5.3xlarge") is None
    assert "ml.g5.3xlarge" not in instances.names()


def test_every_type_has_what_every_computer_has() -> None:
    assert len(instances.names()) == len(set(instances.names())) > 200
    for it in map(found, instances.names()):
        assert it.name.startswith("ml.")
        assert it.vcpus > 0
        assert it.memory_mib >= 1024
        assert (it.gpus > 0) == (it.gpu_memory_mib_each > 0) == (it.gpu_name is not None)
        assert (it.accelerators > 0) == (it.accelerator_name is not None)


def test_multi_model_gpu_types_have_one_gpu_each() -> None:
    assert {"ml.g4dn.xlarge", "ml.g5.16xlarge", "ml.p3.2xlarge"} <= instances.MULTI_MODEL_GPU_TYPES
    assert "ml.g5.12xlarge" not in instances.MULTI_MODEL_GPU_TYPES
    for name in instances.MULTI_MODEL_GPU_TYPES - KNOWN_MISSING:
        assert found(name).gpus == 1


def test_no_type_is_both_known_and_excused() -> None:
    assert not KNOWN_MISSING & set(instances.names())
