"""Compares arrays with the inputs that a model declares: names, types, shapes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inferstack.spec.problem.words import choose
from inferstack.triton.declared import declared_shape, different_batches, fits, fits_unbatched
from inferstack.triton.invocation.arrays import Array, is_exact_bf16, type_of
from inferstack.triton.protocol import BF16, BYTES, FORMATS, data_type

_BATCH_OF_ONE = "a batch of one is one more pair of brackets in JSON, and array[None] in numpy"
_OF_ONE_VALUE = "a pair of brackets around each value in JSON, and array[..., None] in numpy"


def mismatches(config: Any, inputs: Mapping[str, Array]) -> Iterator[str]:
    """Everything that would make Triton refuse a request with these inputs, each with what to do."""
    declared = {tensor.name: tensor for tensor in config.input}
    for name in inputs:
        if name not in declared:
            yield f"the model has no input `{name}`; {choose(name, list(declared))}"
    for name, tensor in declared.items():
        if name in inputs:
            yield from _type(tensor, inputs[name])
            yield from _shape(config, tensor, inputs[name].shape)
        elif not tensor.optional:
            yield f"the input `{name}` is missing: {data_type(tensor)} {declared_shape(config, tensor)}"
    sizes = different_batches(config, declared.values(), {name: it.shape for name, it in inputs.items()})
    if sizes is not None:
        yield f"the inputs of a request have one batch size, found {sizes}"


def _type(tensor: Any, array: Array) -> Iterator[str]:
    wanted, found = data_type(tensor), type_of(array)
    if found == wanted:
        return
    message = f"`{tensor.name}` is declared {wanted} and the array is {array.dtype.name}"
    if wanted == BF16:
        if found != "FP32":
            yield f"{message}; give bfloat16, or float32 with values that bfloat16 has"
        elif not is_exact_bf16(array):
            yield f"{message} with values that bfloat16 has not; round them yourself"
    elif wanted == BYTES:
        yield f"{message}; give an array of texts"
    else:
        numpy_name = {"e": "float16", "f": "float32", "d": "float64", "?": "bool"}.get(
            FORMATS[wanted], wanted.lower()
        )
        yield f"{message}; convert it: array.astype('{numpy_name}')"


def _shape(config: Any, tensor: Any, shape: Sequence[int]) -> Iterator[str]:
    dims = tuple(tensor.dims)
    message = f"`{tensor.name}` is declared {declared_shape(config, tensor)} and the array is {list(shape)}"
    if tensor.is_shape_tensor or config.max_batch_size == 0:
        if not fits_unbatched(tensor, shape):
            yield message
    elif fits(shape, dims) and not fits(shape[1:], dims):
        yield f"{message}: it lacks the batch, the first dimension; {_BATCH_OF_ONE}"
    elif not fits(shape[1:], dims):
        lacks = dims[-1:] == (1,) and fits(shape[1:], dims[:-1])
        yield f"{message}: it lacks the last dimension; {_OF_ONE_VALUE}" if lacks else message
    elif not 1 <= shape[0] <= config.max_batch_size:
        yield f"`{tensor.name}` has a batch of {shape[0]}; allowed: 1 to {config.max_batch_size}"
