"""Model files, as far as they are on this machine, compared with the configuration and the image.

What the ONNX backend compares when it loads a model: ``ValidateInputs`` and ``ValidateOutputs`` in
https://github.com/triton-inference-server/onnxruntime_backend/blob/main/src/onnxruntime.cc
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inferstack.catalog.triton_container import Release
from inferstack.problems import Problem
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.triton.model import FieldPath, TritonModel, enum_name, loaded_versions
from inferstack.triton.model_files import OnnxGraph, OnnxTensor, engine_version, onnx_graph
from inferstack.triton.rules.base import Context, at, each, error, warning
from inferstack.triton.rules.tensors import VARIABLE

_ONNX = "https://github.com/triton-inference-server/onnxruntime_backend/blob/main/src/onnxruntime.cc"
_MATRIX = "https://docs.nvidia.com/deeplearning/frameworks/support-matrix/index.html"
_WITHOUT_TENSORFLOW = "https://github.com/triton-inference-server/server/pull/8089"

_NO_TENSORFLOW_SINCE: Release = (25, 3)
TENSORRT: dict[Release, tuple[int, int]] = {
    (23, 12): (8, 6),
    (24, 1): (8, 6),
    (24, 5): (10, 0),
    (24, 9): (10, 4),
    (25, 4): (10, 9),
}
"""Major and minor version of TensorRT in images, as far as the server's repository names them for a release:
in the table of TensorRT-LLM images (docs/introduction/compatibility.md), or in the Dockerfile for Windows."""
_MAJOR_AFTERWARDS = 10


def _loaded_files(model: TritonModel) -> Iterator[tuple[str, Path]]:
    """The files that the backend loads, by their paths in the model's folder."""
    for version in loaded_versions(model.config, model.versions) if model.model_file is not None else ():
        path = f"{version}/{model.model_file}"
        # It may also be a folder, which has a file of the same name in it.
        for found in (path, f"{path}/{model.model_file}"):
            if found in model.files:
                yield found, model.files[found]


def graphs(model: TritonModel) -> Iterator[tuple[str, OnnxGraph]]:
    """The ONNX graphs of a model that could be read, each after its path in the model's folder."""
    own = model.backend == "onnxruntime" and not model.config.runtime
    for path, file in _loaded_files(model) if own else ():
        graph = onnx_graph(file)
        if graph is not None:
            yield path, graph


@error("IS775", _ONNX)
def onnx_is_as_declared(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The inputs and outputs of an ONNX model must have the names, types and shapes that are in its file.

    The backend compares them when it loads the model. Sizes of outputs that the file leaves open are not
    checked, since ONNX Runtime may know more of them.
    """
    for path, graph in graphs(model):
        yield from _only_tensors(model, path, graph)
        wrong = list(_named(model, path, "input", graph.inputs))
        yield from wrong or _fed(model, path, graph)
        yield from _named(model, path, "output", graph.outputs)


def _only_tensors(model: TritonModel, path: str, graph: OnnxGraph) -> Iterator[Problem]:
    for tensor in (*graph.inputs.values(), *graph.outputs.values()):
        if tensor.kind != "tensor":
            message = f"`{tensor.name}` in {path} is a {tensor.kind}; Triton serves only tensors"
            fix = "export the model with tensors alone (skl2onnx: `zipmap: False`)"
            yield Problem(at(model), message, fix)


def _named(model: TritonModel, path: str, side: str, known: Mapping[str, OnnxTensor]) -> Iterator[Problem]:
    for place, tensor in each(model, side):
        found = known.get(tensor.name)
        if found is not None:
            yield from _typed(model, path, place, tensor, found)
        elif tensor.name:
            message = f"{path} of {model.name} has no {side} `{tensor.name}`"
            fix = did_you_mean_then(tensor.name, list(known), f"allowed: {listed(list(known))}")
            yield Problem(at(model, *place, "name"), message, fix)


def _fed(model: TritonModel, path: str, graph: OnnxGraph) -> Iterator[Problem]:
    """Finds inputs of the file that nothing feeds. Without any input declared, the backend fills them in."""
    config = model.config
    fed = {tensor.name for tensor in config.input if not tensor.optional}
    fed |= {name for computed in config.batch_input for name in computed.target_name}
    fed |= {control.name for control in config.sequence_batching.control_input}
    fed |= {state.input_name for state in config.sequence_batching.state}
    missing = [name for name in graph.inputs if name not in fed | graph.optional]
    if missing and config.input:
        message = f"{path} of {model.name} needs the input {listed(missing, last='and')}, too"
        yield Problem(at(model, "input"), message, "add it with its data_type and dims; it is not optional")


def _typed(
    model: TritonModel, path: str, place: FieldPath, tensor: Any, found: OnnxTensor
) -> Iterator[Problem]:
    kind = enum_name(tensor, "data_type")
    if found.data_type is not None and kind not in ("TYPE_INVALID", f"TYPE_{found.data_type}"):
        message = f"`{tensor.name}` is {kind}, but TYPE_{found.data_type} in {path}"
        fix = f"write `data_type: TYPE_{found.data_type}`, or convert it in a model next to this one"
        yield Problem(at(model, *place, "data_type"), message, fix)
    if found.shape is not None and _shapes_count(model, place, tensor):
        yield from _shaped(model, path, place, tensor, found.shape)


def _shapes_count(model: TritonModel, place: FieldPath, tensor: Any) -> bool:
    """Whether the backend compares the shape: not where Triton computes it, nor when it fills in others."""
    config = model.config
    computed = {name for output in config.batch_output for name in output.target_name}
    whole = bool(config.input and config.output and (tensor.dims or tensor.HasField("reshape")))
    return whole and not (place[0] == "output" and tensor.name in computed)


def _shaped(
    model: TritonModel, path: str, place: FieldPath, tensor: Any, shape: Sequence[int]
) -> Iterator[Problem]:
    batching = model.config.max_batch_size > 0
    reshaped = tensor.HasField("reshape")
    written = list(tensor.reshape.shape if reshaped else tensor.dims)
    field = (*place, "reshape", "shape") if reshaped else (*place, "dims")
    if place[0] == "input" and tensor.allow_ragged_batch:
        if list(shape) != [VARIABLE]:
            message = f"`{tensor.name}` is {list(shape)} in {path}, so batches of it cannot be ragged"
            yield Problem(at(model, *place, "allow_ragged_batch"), message, "remove `allow_ragged_batch`")
    elif not shape:
        if any(size != 1 for size in written):
            message = f"`{tensor.name}` is a single value in {path}, but {written} here"
            yield Problem(at(model, *field), message, "write `dims: [1]`")
    elif batching and shape[0] != VARIABLE:
        message = f"{model.name} cannot batch: the first size of `{tensor.name}` in {path} is {shape[0]}"
        fix = f"write `max_batch_size: 0` and `dims: {list(shape)}`, or export it with a first size left open"
        yield Problem(at(model, *field), message, fix)
    elif not _fits(shape[batching:], written):
        after = " after the batch" if batching else ""
        message = f"`{tensor.name}` is {written}, but {list(shape[batching:])}{after} in {path}"
        fix = f"write `dims: {list(shape[batching:])}`, with sizes of your own for any -1 of an input"
        yield Problem(at(model, *field), message, fix)


def _fits(shape: Sequence[int], written: Sequence[int]) -> bool:
    pairs = zip(shape, written, strict=False)
    return len(shape) == len(written) and all(size in (VARIABLE, own) for size, own in pairs)


@warning("IS785", _MATRIX)
def engines_fit_the_image(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A TensorRT engine should be built by the TensorRT of the image.

    Another version refuses to load it, unless it was built to be compatible.
    """
    release = context.release
    if release is None or model.backend != "tensorrt":
        return
    for path, file in _loaded_files(model):
        found = engine_version(file)
        wanted = TENSORRT.get(release, ()) or _major_of(release)
        if found is None or found[: len(wanted)] == wanted:
            continue
        built, expected = (".".join(map(str, parts)) for parts in (found[:3], wanted))
        message = f"{path} was built by TensorRT {built}, but the image should have {expected}"
        fix = (
            "build it in NVIDIA's Triton or TensorRT image of the same release; "
            "ignore IS785 if it was built to run on other versions"
        )
        yield Problem(at(model), message, fix)


def _major_of(release: Release) -> tuple[int, ...]:
    """The major version in an image without a row; nothing where even that is unclear."""
    return (_MAJOR_AFTERWARDS,) if release > max(TENSORRT) else ()


@warning("IS795", _WITHOUT_TENSORFLOW)
def tensorflow_is_still_there(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A TensorFlow model needs an image that has the backend: NVIDIA's have none from 25.03 on.

    An image that you build can still bring it.
    """
    gone = context.release is not None and context.release >= _NO_TENSORFLOW_SINCE
    own = model.config.runtime or any(path.endswith("libtriton_tensorflow.so") for path in model.files)
    if gone and not own and model.backend == "tensorflow":
        key = "backend" if model.config.backend else "platform"
        message = f"{model.name} needs the TensorFlow backend, which Triton's images lack from 25.03 on"
        fix = (
            "choose an image up to 24.09, convert the model to ONNX (tf2onnx), "
            "or ignore IS795 if your image has the backend"
        )
        yield Problem(at(model, key), message, fix)
