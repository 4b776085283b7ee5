"""What SageMaker's API has but CloudFormation does not: unknown here, but not the user's mistake.

It is the difference between the API's service model and the CloudFormation registry.
"""

from collections.abc import Iterator
from functools import cache

from inferstack.catalog import cloudformation
from inferstack.spec.blocks.base import Block, with_subclasses

NOT_YET = "SageMaker's API has it, but CloudFormation does not yet"
"""What to say of such a key or value."""
# Keys that CloudFormation will never get: what they configured is gone.
_DISCONTINUED = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/ei.html
    "accelerator_type": "AWS ended Elastic Inference in 2024",
}


def why_not(key: str) -> str:
    """Why a key that only the API has cannot be deployed."""
    return _DISCONTINUED.get(key, NOT_YET)


def is_api_only_key(block: str, key: str) -> bool:
    """Whether only the API has this key of a block; ``block`` is the name of the block's class."""
    return any(key in cloudformation.api_only_properties(*shape) for shape in _shapes().get(block, ()))


def is_api_only_value(key: str, value: object) -> bool:
    """Whether only the API has this value of a key, in any block with that key."""
    for shapes in _shapes().values():
        for type_name, definition in shapes:
            found = cloudformation.shape(type_name, definition).get(key)
            if found and value in cloudformation.api_only_values(type_name, definition, found.name):
                return True
    return False


@cache
def _shapes() -> dict[str, tuple[tuple[str, str], ...]]:
    """SageMaker's CloudFormation shapes of each block, as type and definition."""
    return {block.__name__: tuple(_sagemaker_shapes(block)) for block in with_subclasses(Block)}


def _sagemaker_shapes(block: type[Block]) -> Iterator[tuple[str, str]]:
    for shape in block.shapes:
        type_name, _, definition = shape.partition(".")
        if type_name.startswith("AWS::SageMaker::"):
            yield type_name, definition
