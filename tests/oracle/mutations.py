"""A repository that Triton serves, and what can be done to it: one row each, with what comes of it.

A row changes files of the repository. The key `net` stands for `net/config.pbtxt`; a text is added to its end,
a pair is a text and what takes its place. Other keys are paths: a text is the new content, None removes it.
In all texts and paths `net`, `pre` and `pipe` get a number in the test, so that one server takes all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Edit = str | tuple[str, str] | None
Triton = Literal["serves", "refuses", "loads", "hangs"]
"""What the server does: `loads` without answering requests, `hangs` without an end of loading."""

NET = """\
name: "@net"
backend: "python"
max_batch_size: 8
input { name: "X" data_type: TYPE_FP32 dims: [ 3 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }
"""
PRE = """\
name: "@pre"
backend: "python"
max_batch_size: 8
input { name: "RAW" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "PIXELS" data_type: TYPE_FP32 dims: [ 3 ] }
"""
PIPE = """\
name: "@pipe"
platform: "ensemble"
max_batch_size: 8
input { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }
ensemble_scheduling {
  step {
    model_name: "@pre" model_version: -1
    input_map { key: "RAW" value: "IN" }
    output_map { key: "PIXELS" value: "pixels" }
  }
  step {
    model_name: "@net" model_version: -1
    input_map { key: "X" value: "pixels" }
    output_map { key: "Y" value: "OUT" }
  }
}
"""
# Takes the place of `pre`, and asks `pipe` in turn.
RING = """\
platform: "ensemble"
max_batch_size: 8
input { name: "RAW" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "PIXELS" data_type: TYPE_FP32 dims: [ 3 ] }
ensemble_scheduling {
  step {
    model_name: "@pipe" model_version: -1
    input_map { key: "IN" value: "RAW" }
    output_map { key: "OUT" value: "PIXELS" }
  }
}
"""
ALONE = {"@net/config.pbtxt": NET, "@net/1/model.py": "…"}
"""One model. `model.py` answers with zeros of the declared kind."""
JOINED = {**ALONE, "@pre/config.pbtxt": PRE, "@pre/1/model.py": "…", "@pipe/config.pbtxt": PIPE, "@pipe/1/": ""}
"""An ensemble of two."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """``codes`` are the errors that our checks report; ``why`` a difference between them and Triton is meant."""

    title: str
    edits: Mapping[str, Edit | list[Edit]]
    codes: tuple[str, ...] = ()
    triton: Triton = "serves"
    why: str = ""

    @property
    def agreed(self) -> bool:
        """Whether Triton refuses what the checks refuse, and serves all else."""
        return self.triton == ("refuses" if self.codes else "serves")


def _fine(title: str, edits: Mapping[str, Edit | list[Edit]]) -> Mutation:
    return Mutation(title, edits)


def _wrong(title: str, code: str, edits: Mapping[str, Edit | list[Edit]]) -> Mutation:
    return Mutation(title, edits, tuple(code.split()), "refuses")


FILES = [
    _fine("as it is", {}),
    _wrong("no text of the format", "IS900", {"net": "max_batch_size: {"}),
    _wrong("an unknown field", "IS900", {"net": "max_batchsize: 8"}),
    _wrong("a word for a number", "IS900", {"net": ("max_batch_size: 8", "max_batch_size: eight")}),
    _wrong("an unknown data type", "IS900", {"net": ("TYPE_FP32", "TYPE_FLOAT")}),
    _wrong("two ways of scheduling", "IS900", {"net": "dynamic_batching {} sequence_batching {}"}),
    _wrong("a field twice", "IS900", {"net": "max_batch_size: 4"}),
    _wrong("a byte order mark", "IS900", {"net": ("name: ", "\ufeffname: ")}),
    _fine("lines that end as in Windows", {"net": ("\n", "\r\n")}),
    _fine("comments and other signs", {"net": "# said\nversion_policy: < latest: { num_versions: 1, } >;"}),
    _wrong("the name of another folder", "IS904", {"net": ('"@net"', '"other"')}),
    _fine("no name", {"net": ('name: "@net"\n', "")}),
    _wrong("no version", "IS907", {"@net/1/model.py": None}),
    _wrong("a version with a letter", "IS907", {"@net/1/model.py": None, "@net/v1/model.py": "…"}),
    _wrong("a version with a zero in front", "IS907", {"@net/1/model.py": None, "@net/01/model.py": "…"}),
    _fine("a folder that is no version beside one", {"@net/v2/model.py": "…"}),
    _fine("version zero", {"@net/1/model.py": None, "@net/0/model.py": "…"}),
    _wrong("only a folder for warm-up", "IS907", {"@net/1/model.py": None, "@net/warmup/model.py": "…"}),
    _wrong("none of the latest versions", "IS907", {"net": "version_policy { latest { num_versions: 0 } }"}),
    _wrong("a version that is not there", "IS907", {"net": "version_policy { specific { versions: 2 } }"}),
    _fine("one of two versions there", {"net": "version_policy { specific { versions: [ 1, 2 ] } }"}),
    _fine("all of two versions", {"net": "version_policy { all {} }", "@net/3/model.py": "…"}),
    _fine("a policy without a choice", {"net": "version_policy {}"}),
    _fine("a model under another name", {"net": 'default_model_filename: "m.py"', "@net/1/m.py": "…"}),
    _wrong("labels that are not there", "IS913", {"net": ("dims: [ 2 ]", 'dims: [ 2 ] label_filename: "l.txt"')}),
    _fine(
        "labels", {"net": ("dims: [ 2 ]", 'dims: [ 2 ] label_filename: "l.txt"'), "@net/l.txt": "a\nb\n"}
    ),
    Mutation(
        "no code",
        {"@net/1/model.py": None, "@net/1/": ""},
        ("IS910",),
        "hangs",
        "Triton waits without end for a process that has ended",
    ),
]
MODELS = [
    _fine("no backend, but its file", {"net": ('backend: "python"', "")}),
    _wrong(
        "no backend, and a file of none",
        "IS920",
        {"net": ('backend: "python"', ""), "@net/1/model.py": None, "@net/1/model.bin": "?"},
    ),
    _wrong("an unknown platform", "IS920", {"net": ('backend: "python"', 'platform: "torchscript"')}),
    _wrong(
        "backend and platform of two kinds",
        "IS921",
        {
            "net": ('backend: "python"', 'backend: "onnxruntime" platform: "tensorrt_plan"'),
            "@net/1/model.onnx": "?",
            "@net/1/model.plan": "?",
        },
    ),
    Mutation(
        "a backend that is nowhere",
        {"net": ('backend: "python"', 'backend: "pythonn"')},
        (),
        "refuses",
        "images have backends that no list knows, and one can lie in the model's own folder",
    ),
    _wrong("a batch size below zero", "IS922", {"net": ("max_batch_size: 8", "max_batch_size: -1")}),
    _fine("no batches", {"net": ("max_batch_size: 8", "max_batch_size: 0")}),
    _fine("requests joined", {"net": "dynamic_batching { preferred_batch_size: [ 4, 8 ] }"}),
    _wrong("preferring more than the most", "IS923", {"net": "dynamic_batching { preferred_batch_size: 9 }"}),
    _wrong("preferring nothing", "IS923", {"net": "dynamic_batching { preferred_batch_size: 0 }"}),
    _wrong(
        "preferring a size without batches",
        "IS923",
        {"net": [("max_batch_size: 8", ""), "dynamic_batching { preferred_batch_size: 1 }"]},
    ),
    _fine("requests joined without batches", {"net": [("max_batch_size: 8", ""), "dynamic_batching {}"]}),
    _fine("priorities", {"net": "dynamic_batching { priority_levels: 2 default_priority_level: 1 }"}),
    _wrong("priorities without a usual one", "IS924", {"net": "dynamic_batching { priority_levels: 2 }"}),
    _wrong(
        "a priority above the levels",
        "IS924",
        {"net": "dynamic_batching { priority_levels: 2 default_priority_level: 3 }"},
    ),
    _wrong(
        "a queue above the levels",
        "IS924",
        {
            "net": "dynamic_batching { priority_levels: 2 default_priority_level: 1 "
            "priority_queue_policy { key: 3 value { max_queue_size: 4 } } }"
        },
    ),
    _fine("answers in order", {"net": "dynamic_batching { preserve_ordering: true }"}),
    _wrong(
        "answers in order with two priorities",
        "IS925",
        {"net": "dynamic_batching { preserve_ordering: true priority_levels: 2 default_priority_level: 1 }"},
    ),
    _wrong(
        "answers in order with delays",
        "IS925",
        {
            "net": "dynamic_batching { preserve_ordering: true default_queue_policy "
            "{ timeout_action: DELAY default_timeout_microseconds: 5 } }"
        },
    ),
    _fine("a cache", {"net": "response_cache { enable: true }"}),
    _wrong(
        "a cache of several answers",
        "IS926",
        {"net": "response_cache { enable: true } model_transaction_policy { decoupled: true }"},
    ),
    _wrong("a cache of sequences", "IS926", {"net": "response_cache { enable: true } sequence_batching {}"}),
    _wrong("a field of later releases", "IS970", {"net": "model_metrics {}"}),
    _fine("instances", {"net": "instance_group { kind: KIND_CPU count: 2 }"}),
    _fine("instances that are not counted", {"net": "instance_group { kind: KIND_CPU count: 0 }"}),
    _fine("instances of the model's own", {"net": "instance_group { kind: KIND_MODEL }"}),
    _wrong("a GPU for the CPU", "IS930", {"net": "instance_group { kind: KIND_CPU gpus: 0 }"}),
    _wrong("a GPU for the model's own", "IS930", {"net": "instance_group { kind: KIND_MODEL gpus: 0 }"}),
    _wrong("a GPU that is not there", "IS931", {"net": "instance_group { kind: KIND_GPU }"}),
    _wrong("a GPU that may be there", "IS931", {"net": "instance_group { gpus: 0 }"}),
    _wrong("a profile for Python", "IS932", {"net": 'instance_group { kind: KIND_CPU profile: "0" }'}),
    _fine("a limit of rates", {"net": 'instance_group { rate_limiter { resources { name: "R" count: 1 } } }'}),
    _fine("parameters", {"net": 'parameters { key: "any" value { string_value: "thing" } }'}),
    _fine("an optimization", {"net": "optimization { priority: PRIORITY_MAX }"}),
]
TENSORS = [
    _wrong("an input without a name", "IS935", {"net": ('name: "X" ', "")}),
    _wrong("an input without a type", "IS935", {"net": ('"X" data_type: TYPE_FP32', '"X"')}),
    _wrong("an input without dimensions", "IS935", {"net": ("dims: [ 3 ]", "")}),
    _wrong("an output without a name", "IS935", {"net": ('name: "Y" ', "")}),
    _wrong("an output without a type", "IS935", {"net": ('"Y" data_type: TYPE_FP32', '"Y"')}),
    _wrong("an output without dimensions", "IS935", {"net": ("dims: [ 2 ]", "")}),
    _wrong("a dimension of zero", "IS936", {"net": ("[ 3 ]", "[ 0 ]")}),
    _wrong("a dimension below -1", "IS936", {"net": ("[ 3 ]", "[ -2 ]")}),
    _wrong("an output of zero", "IS936", {"net": ("[ 2 ]", "[ 2, 0 ]")}),
    _fine("open dimensions", {"net": ("[ 3 ]", "[ -1, 4, -1 ]")}),
    _fine("another shape of as many", {"net": ("[ 3 ]", "[ 3 ] reshape { shape: [ 1, 3 ] }")}),
    _fine("an output of another shape", {"net": ("[ 2 ]", "[ 2 ] reshape { shape: [ 2, 1 ] }")}),
    _wrong("another shape of more", "IS937", {"net": ("[ 3 ]", "[ 3 ] reshape { shape: [ 4 ] }")}),
    _wrong("another shape of none", "IS937", {"net": ("[ 2 ]", "[ 2 ] reshape { shape: [ ] }")}),
    _fine("no shape but the batch", {"net": ("[ 3 ]", "[ 1 ] reshape { shape: [ ] }")}),
    _wrong(
        "no shape and no batch",
        "IS937",
        {"net": [("max_batch_size: 8", ""), ("[ 3 ]", "[ 1 ] reshape { shape: [ ] }")]},
    ),
    _wrong("open dimensions in another shape", "IS937", {"net": ("[ 3 ]", "[ -1 ] reshape { shape: [ 1, 3 ] }")}),
    _fine("open dimensions that stay open", {"net": ("[ 3 ]", "[ -1, 2 ] reshape { shape: [ -1, 1, 2 ] }")}),
    _fine("an image", {"net": ("dims: [ 3 ]", "dims: [ 4, 4, 3 ] format: FORMAT_NHWC")}),
    _wrong("an image of one dimension", "IS938", {"net": ("[ 3 ]", "[ 3 ] format: FORMAT_NCHW")}),
    _wrong("a shape as an input", "IS939", {"net": ("[ 3 ]", "[ 3 ] is_shape_tensor: true")}),
    _wrong(
        "an order of TensorRT's own", "IS939", {"net": ("[ 3 ]", "[ 3, 1, 1 ] is_non_linear_format_io: true")}
    ),
    Mutation(
        "an input twice",
        {"net": 'input { name: "X" data_type: TYPE_FP32 dims: [ 3 ] }'},
        ("IS940",),
        "loads",
        "which of the two a request fills is left to chance",
    ),
    Mutation(
        "an output twice",
        {"net": 'output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }'},
        ("IS940",),
        "serves",
        "clients and ensembles find outputs by name",
    ),
    _fine("an input that may be left out", {"net": 'input { name: "Z" data_type: TYPE_BOOL dims: 1 optional: true }'}),
    _fine("texts", {"net": ('"X" data_type: TYPE_FP32', '"X" data_type: TYPE_STRING')}),
    _fine("halves", {"net": ('"Y" data_type: TYPE_FP32', '"Y" data_type: TYPE_FP16')}),
    _wrong(
        "a length of nothing",
        "IS944",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP32 source_input: "Q" }'
        },
    ),
    _wrong(
        "a length in halves",
        "IS944",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP16 source_input: "X" }'
        },
    ),
    _fine(
        "a length",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP32 source_input: "X" }'
        },
    ),
    _wrong(
        "a part of no output",
        "IS945",
        {"net": 'batch_output { target_name: "Q" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "X" }'},
    ),
    _wrong("more free slots than all", "IS948", {"net": "sequence_batching { direct { minimum_slot_utilization: 2 } }"}),
    _wrong(
        "a start that is said twice",
        "IS946",
        {
            "net": "sequence_batching {"
            + 'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }'
            + 'control_input { name: "T" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }'
        },
    ),
    _wrong(
        "a start in one value",
        "IS947",
        {
            "net": "sequence_batching {"
            'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 1 ] } } }'
        },
    ),
    _fine(
        "a start in two values",
        {
            "net": "sequence_batching {"
            'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }'
        },
    ),
]
_ZEROS = 'inputs { key: "X" value { data_type: TYPE_FP32 dims: 3 zero_data: true } }'
_FROM_FILE = _ZEROS.replace("zero_data: true", 'input_data_file: "x"')


def _warm(sample: str) -> dict[str, Edit | list[Edit]]:
    return {"net": f'model_warmup {{ name: "w" {sample} }}'}


WARMUP = [
    _fine("warm", _warm(f"batch_size: 8 {_ZEROS}")),
    _fine("warm with chances", _warm(f"batch_size: 1 {_ZEROS.replace('zero', 'random')}")),
    _fine("warm without a batch", _warm(_ZEROS)),
    _wrong("warm beyond the most", "IS949", _warm(f"batch_size: 9 {_ZEROS}")),
    _wrong("warm in open dimensions", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('dims: 3', 'dims: -1')}")),
    _wrong("warm in another shape", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('dims: 3', 'dims: 4')}")),
    _wrong("warm in another type", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('FP32', 'INT32')}")),
    _wrong("warm with another input", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('X', 'Q')}")),
    _wrong("warm with no input", "IS949", _warm("batch_size: 1")),
    _wrong("warm with no values", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('zero_data: true', '')}")),
    _wrong(
        "warm from a file that is not there",
        "IS913",
        _warm(f"batch_size: 1 {_FROM_FILE}"),
    ),
    _fine(
        "warm from a file",
        {
            **_warm(f"batch_size: 1 {_FROM_FILE}"),
            "@net/warmup/x": "12 bytes are",
        },
    ),
]
_FIRST = 'input_map { key: "RAW" value: "IN" }'
_BETWEEN = 'output_map { key: "PIXELS" value: "pixels" }'
_SECOND = 'input_map { key: "X" value: "pixels" }'
_LAST = 'output_map { key: "Y" value: "OUT" }'
_NO_STEPS = PIPE.partition("ensemble_scheduling")[0]
_NO_BATCH = ("max_batch_size: 8", "max_batch_size: 0")


def _more(text: str) -> tuple[str, str]:
    """Another step."""
    return ("ensemble_scheduling {", f"ensemble_scheduling {{ step {{ {text} }}")


_DECOUPLED = "model_transaction_policy { decoupled: true }"
_TWIN = _more(
    'model_name: "@twin" model_version: -1 input_map { key: "RAW" value: "IN" } '
    'output_map { key: "PIXELS" value: "others" }'
)
ENSEMBLES = [
    _fine("joined as they are", {"pipe": []}),
    _wrong("an ensemble without a version", "IS907", {"@pipe/1/": None}),
    _wrong("instances of an ensemble", "IS951", {"pipe": "instance_group { kind: KIND_CPU }"}),
    _wrong("an optimized ensemble", "IS951", {"pipe": "optimization {}"}),
    _wrong("a warm ensemble", "IS951", {"pipe": 'model_warmup { name: "w" }'}),
    _wrong("an ensemble that joins requests", "IS900", {"pipe": "dynamic_batching {}"}),
    _wrong("an ensemble of Python", "IS950", {"pipe": ('platform: "ensemble"', 'backend: "python"')}),
    _wrong("an ensemble with a backend", "IS921", {"pipe": 'backend: "python"'}),
    _wrong("steps of a model that is none", "IS950", {"pipe": ('platform: "ensemble"', "")}),
    _wrong("an ensemble of nothing", "IS952", {"@pipe/config.pbtxt": f"{_NO_STEPS}ensemble_scheduling {{}}"}),
    _wrong("an ensemble without its word", "IS950", {"@pipe/config.pbtxt": _NO_STEPS}),
    _wrong("a step without a model", "IS952", {"pipe": ('model_name: "@net"', "")}),
    _wrong("a step without inputs", "IS952 IS954 IS955", {"pipe": (_SECOND, "")}),
    _wrong("a step without outputs", "IS952 IS954 IS955", {"pipe": (_LAST, "")}),
    _wrong(
        "a tensor written twice",
        "IS953",
        {
            "pipe": _more(
                'model_name: "@pre" model_version: -1 input_map { key: "RAW" value: "IN" } '
                'output_map { key: "PIXELS" value: "pixels" }'
            )
        },
    ),
    _wrong("an input that nobody reads", "IS954", {"pipe": 'input { name: "W" data_type: TYPE_FP32 dims: 1 }'}),
    _wrong("an output that nobody writes", "IS954", {"pipe": 'output { name: "W" data_type: TYPE_FP32 dims: 1 }'}),
    _wrong(
        "a tensor that nobody reads",
        "IS955",
        {
            "net": 'output { name: "Z" data_type: TYPE_FP32 dims: 1 }',
            "pipe": (_LAST, f'{_LAST} output_map {{ key: "Z" value: "lost" }}'),
        },
    ),
    _wrong("a tensor that nobody writes", "IS954 IS955", {"pipe": ('"X" value: "pixels"', '"X" value: "pixel"')}),
    _wrong("a model that is not there", "IS956", {"pipe": ('"@pre"', '"@prae"')}),
    _wrong("no version named", "IS958", {"pipe": ('"@pre" model_version: -1', '"@pre"')}),
    _wrong("a version that is not loaded", "IS958", {"pipe": ('"@pre" model_version: -1', '"@pre" model_version: 2')}),
    _fine("a version that is loaded", {"pipe": ('"@pre" model_version: -1', '"@pre" model_version: 1')}),
    _wrong("a member of smaller batches", "IS959", {"net": ("max_batch_size: 8", "max_batch_size: 4")}),
    _fine("members of larger batches", {"pipe": ("max_batch_size: 8", "max_batch_size: 4")}),
    _fine("an ensemble without batches", {"pipe": _NO_BATCH}),
    _fine("nothing with batches", {"pipe": _NO_BATCH, "net": _NO_BATCH, "pre": _NO_BATCH}),
    Mutation(
        "a member without batches",
        {"net": _NO_BATCH},
        ("IS963",),
        "loads",
        "a batch of one is answered, and every larger one fails",
    ),
    _wrong(
        "an input that is not mapped",
        "IS960",
        {"net": 'input { name: "Z" data_type: TYPE_FP32 dims: 1 }'},
    ),
    _fine(
        "an input that need not be mapped",
        {"net": 'input { name: "Z" data_type: TYPE_FP32 dims: 1 optional: true }'},
    ),
    _wrong("an input that is not there", "IS960", {"pipe": ('key: "X"', 'key: "x"')}),
    _wrong("an output that is not there", "IS960", {"pipe": ('key: "Y"', 'key: "y"')}),
    _fine("an output that is not mapped", {"net": 'output { name: "Z" data_type: TYPE_FP32 dims: 1 }'}),
    _wrong("two types in between", "IS961", {"net": ('"X" data_type: TYPE_FP32', '"X" data_type: TYPE_FP16')}),
    _wrong("two types at the beginning", "IS961", {"pipe": ("TYPE_UINT8", "TYPE_INT8")}),
    _wrong("two types at the end", "IS961", {"pipe": ("TYPE_FP32", "TYPE_FP64")}),
    _wrong("two shapes in between", "IS962", {"net": ("[ 3 ]", "[ 4 ]")}),
    _wrong("more dimensions in between", "IS962", {"net": ("[ 3 ]", "[ 3, 1 ]")}),
    _wrong("two shapes at the end", "IS962", {"pipe": ("[ 2 ]", "[ 3 ]")}),
    _fine("an open shape in between", {"net": ("[ 3 ]", "[ -1 ]")}),
    _fine("an open shape at the end", {"pipe": ("[ 2 ]", "[ -1 ]")}),
    _fine("a member of another shape inside", {"net": ("[ 3 ]", "[ 3 ] reshape { shape: [ 1, 3 ] }")}),
    _wrong(
        "an ensemble in a circle",
        "IS957",
        {
            "@ring/config.pbtxt": RING,
            "@ring/1/": "",
            "pipe": [('"@pre"', '"@ring"'), ("[ 2 ]", "[ 3 ]")],
            "net": ("[ 2 ]", "[ 3 ]"),
        },
    ),
    _fine(
        "one model in two steps",
        {
            "pipe": [
                _more(
                    'model_name: "@pre" model_version: -1 input_map { key: "RAW" value: "IN" } '
                    'output_map { key: "PIXELS" value: "AGAIN" }'
                ),
                'output { name: "AGAIN" data_type: TYPE_FP32 dims: 3 }',
            ]
        },
    ),
    _fine("a member that joins requests", {"net": "dynamic_batching { max_queue_delay_microseconds: 100 }"}),
    _fine(
        "inputs of two models",
        {
            "@twin/config.pbtxt": PRE.replace("@pre", "@twin"),
            "@twin/1/model.py": "…",
            "net": 'input { name: "W" data_type: TYPE_FP32 dims: 3 }',
            "pipe": [_TWIN, (_SECOND, f'{_SECOND} input_map {{ key: "W" value: "others" }}')],
        },
    ),
    _wrong(
        "inputs of two models that answer several times",
        "IS964",
        {
            "@twin/config.pbtxt": f"{PRE.replace('@pre', '@twin')}{_DECOUPLED}",
            "@twin/1/model.py": "…",
            "pre": _DECOUPLED,
            "net": 'input { name: "W" data_type: TYPE_FP32 dims: 3 }',
            "pipe": [_TWIN, (_SECOND, f'{_SECOND} input_map {{ key: "W" value: "others" }}')],
        },
    ),
    _wrong("a member that is wrong itself", "IS930", {"net": "instance_group { kind: KIND_MODEL gpus: 0 }"}),
]
ROWS = [
    (row, base, default)
    for rows, base, default in (
        (FILES, ALONE, "@net"),
        (MODELS, ALONE, "@net"),
        (TENSORS, ALONE, "@net"),
        (WARMUP, ALONE, "@net"),
        (ENSEMBLES, JOINED, "@pipe"),
    )
    for row in rows
]
"""All rows, each with the repository that it changes and the model that is asked."""
