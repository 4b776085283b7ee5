"""Takes the descriptor of Triton's ``ModelConfig``, and its license, out of the tritonclient wheel in build/.

``pip download --no-deps --dest build tritonclient`` gets it: the generated code of its gRPC half contains
``model_config.proto`` in serialized form. It is read as data; neither gRPC nor numpy needs to be installed.
"""

import ast
import sys
from pathlib import Path
from zipfile import ZipFile

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tools.generated_files import PACKAGE, ROOT, Contents

DESCRIPTOR = PACKAGE / "triton" / "model_config.desc"
NOTICE = PACKAGE / "triton" / "LICENSE.model_config"
WHEELS = ROOT / "build"
DOWNLOAD = "pip download --no-deps --dest build tritonclient"
GENERATED_CODE = "tritonclient/grpc/model_config_pb2.py"

# The wheel's license names one year of one holder; these lines are at the top of the proto itself.
COPYRIGHT = """\
Copyright (c) 2018-2026, NVIDIA CORPORATION & AFFILIATES. All rights reserved.
Copyright (c) 2018, TensorFlow Authors. All rights reserved.
"""


def descriptor_in_wheel(wheel: Path) -> bytes:
    """The descriptor in a wheel, as bytes that depend only on the proto."""
    with ZipFile(wheel) as archive:
        code = ast.parse(archive.read(GENERATED_CODE))
    return FileDescriptorProto.FromString(_serialized_file(code)).SerializeToString(deterministic=True)


def _serialized_file(code: ast.AST) -> bytes:
    for node in ast.walk(code):
        match node:
            case ast.Call(ast.Attribute(attr="AddSerializedFile"), [ast.Constant(bytes(raw))]):
                return raw
    raise LookupError(f"{GENERATED_CODE} no longer registers its file with AddSerializedFile")


def notice_of_wheel(wheel: Path) -> str:
    """What must accompany the descriptor: its origin, its copyright holders and the license's text."""
    name, version = wheel.name.split("-")[:2]
    with ZipFile(wheel) as archive:
        text = archive.read(f"{name}-{version}.dist-info/licenses/LICENSE.txt").decode()
    terms = "\n".join(line.removeprefix("#").removeprefix(" ").rstrip() for line in text.splitlines())
    return (
        "model_config.desc is the compiled form of Triton Inference Server's model_config.proto,\n"
        f"as contained in {name} {version}; catalog/data/triton-model-config.json is derived from it.\n"
        f"Both are under this license.\n\n{COPYRIGHT}{terms}\n"
    )


def generate() -> Contents:
    """Both files.

    Raises:
        SystemExit: There is no wheel, or more than one.
    """
    wheels = [*WHEELS.glob("tritonclient-*.whl")]
    if len(wheels) != 1:
        sys.exit(f"{len(wheels)} wheels of tritonclient in {WHEELS}, where one must be: {DOWNLOAD}")
    return {DESCRIPTOR: descriptor_in_wheel(wheels[0]), NOTICE: notice_of_wheel(wheels[0])}
