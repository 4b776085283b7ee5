"""The class of Triton's ``ModelConfig`` messages, from the descriptor beside this file.

What the fields mean:
https://github.com/triton-inference-server/common/blob/main/protobuf/model_config.proto
"""

from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.internal import api_implementation
from google.protobuf.message import Message

_DESCRIPTOR = "model_config.desc"
_NAME = "inference.ModelConfig"


@cache
def model_config_class() -> Any:
    """The class of ``ModelConfig`` messages, with protobuf from 4.25 to 7.

    Earlier versions do not make the classes of messages inside messages, and end the process.
    """
    content = Path(__file__).with_name(_DESCRIPTOR).read_bytes()
    try:
        return _in_c(content)
    except (ImportError, AttributeError):
        return _in_public(content)


def _in_c(content: bytes) -> Any:
    """Makes it as protobuf itself does where it works in C.

    Its public functions for this import all that it has in Python, too, which takes as long as checking ten
    specs.

    Raises:
        ImportError: when protobuf was built without C, or was told to do without.
    """
    if api_implementation.Type() != "upb":
        raise ImportError("protobuf does not work in C")
    from google._upb._message import DescriptorPool, MessageMeta  # noqa: PLC0415 - need not be there

    pool = DescriptorPool()
    pool.AddSerializedFile(content)
    kind = pool.FindMessageTypeByName(_NAME)
    return MessageMeta(kind.name, (Message,), {"DESCRIPTOR": kind, "__module__": None})


def _in_public(content: bytes) -> Any:
    from google.protobuf import descriptor_pool, message_factory  # noqa: PLC0415 - takes long

    # A pool of its own: the default pool may hold tritonclient's copy of the same file.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(content)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(_NAME))
