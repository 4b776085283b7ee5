"""What is done to an ensemble of two models: its steps, and what flows between them."""

from oracle.mutations import PIPE, PRE, RING, Mutation, fine, wrong

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
    fine("joined as they are", {"pipe": []}),
    wrong("an ensemble without a version", "IS907", {"@pipe/1/": None}),
    wrong("instances of an ensemble", "IS951", {"pipe": "instance_group { kind: KIND_CPU }"}),
    wrong("an optimized ensemble", "IS951", {"pipe": "optimization {}"}),
    wrong("a warm ensemble", "IS951", {"pipe": 'model_warmup { name: "w" }'}),
    wrong("an ensemble that joins requests", "IS900", {"pipe": "dynamic_batching {}"}),
    wrong("an ensemble of Python", "IS950", {"pipe": ('platform: "ensemble"', 'backend: "python"')}),
    wrong("an ensemble with a backend", "IS921", {"pipe": 'backend: "python"'}),
    wrong("steps of a model that is none", "IS950", {"pipe": ('platform: "ensemble"', "")}),
    wrong("an ensemble of nothing", "IS952", {"@pipe/config.pbtxt": f"{_NO_STEPS}ensemble_scheduling {{}}"}),
    wrong("an ensemble without its word", "IS950", {"@pipe/config.pbtxt": _NO_STEPS}),
    wrong("a step without a model", "IS952", {"pipe": ('model_name: "@net"', "")}),
    wrong("a step without inputs", "IS952 IS954 IS955", {"pipe": (_SECOND, "")}),
    wrong("a step without outputs", "IS952 IS954 IS955", {"pipe": (_LAST, "")}),
    wrong(
        "a tensor written twice",
        "IS953",
        {
            "pipe": _more(
                'model_name: "@pre" model_version: -1 input_map { key: "RAW" value: "IN" } '
                'output_map { key: "PIXELS" value: "pixels" }'
            )
        },
    ),
    wrong(
        "an input that nobody reads", "IS954", {"pipe": 'input { name: "W" data_type: TYPE_FP32 dims: 1 }'}
    ),
    wrong(
        "an output that nobody writes", "IS954", {"pipe": 'output { name: "W" data_type: TYPE_FP32 dims: 1 }'}
    ),
    wrong(
        "a tensor that nobody reads",
        "IS955",
        {
            "net": 'output { name: "Z" data_type: TYPE_FP32 dims: 1 }',
            "pipe": (_LAST, f'{_LAST} output_map {{ key: "Z" value: "lost" }}'),
        },
    ),
    wrong(
        "a tensor that nobody writes", "IS954 IS955", {"pipe": ('"X" value: "pixels"', '"X" value: "pixel"')}
    ),
    wrong("a model that is not there", "IS956", {"pipe": ('"@pre"', '"@prae"')}),
    wrong("no version named", "IS958", {"pipe": ('"@pre" model_version: -1', '"@pre"')}),
    wrong(
        "a version that is not loaded",
        "IS958",
        {"pipe": ('"@pre" model_version: -1', '"@pre" model_version: 2')},
    ),
    fine("a version that is loaded", {"pipe": ('"@pre" model_version: -1', '"@pre" model_version: 1')}),
    wrong("a member of smaller batches", "IS959", {"net": ("max_batch_size: 8", "max_batch_size: 4")}),
    fine("members of larger batches", {"pipe": ("max_batch_size: 8", "max_batch_size: 4")}),
    fine("an ensemble without batches", {"pipe": _NO_BATCH}),
    fine("nothing with batches", {"pipe": _NO_BATCH, "net": _NO_BATCH, "pre": _NO_BATCH}),
    Mutation(
        "a member without batches",
        {"net": _NO_BATCH},
        ("IS963",),
        "loads",
        "a batch of one is answered, and every larger one fails",
    ),
    wrong(
        "an input that is not mapped",
        "IS960",
        {"net": 'input { name: "Z" data_type: TYPE_FP32 dims: 1 }'},
    ),
    fine(
        "an input that need not be mapped",
        {"net": 'input { name: "Z" data_type: TYPE_FP32 dims: 1 optional: true }'},
    ),
    wrong("an input that is not there", "IS960", {"pipe": ('key: "X"', 'key: "x"')}),
    wrong("an output that is not there", "IS960", {"pipe": ('key: "Y"', 'key: "y"')}),
    fine("an output that is not mapped", {"net": 'output { name: "Z" data_type: TYPE_FP32 dims: 1 }'}),
    wrong("two types in between", "IS961", {"net": ('"X" data_type: TYPE_FP32', '"X" data_type: TYPE_FP16')}),
    wrong("two types at the beginning", "IS961", {"pipe": ("TYPE_UINT8", "TYPE_INT8")}),
    wrong("two types at the end", "IS961", {"pipe": ("TYPE_FP32", "TYPE_FP64")}),
    wrong("two shapes in between", "IS962", {"net": ("[ 3 ]", "[ 4 ]")}),
    wrong("more dimensions in between", "IS962", {"net": ("[ 3 ]", "[ 3, 1 ]")}),
    wrong("two shapes at the end", "IS962", {"pipe": ("[ 2 ]", "[ 3 ]")}),
    fine("an open shape in between", {"net": ("[ 3 ]", "[ -1 ]")}),
    fine("an open shape at the end", {"pipe": ("[ 2 ]", "[ -1 ]")}),
    fine("a member of another shape inside", {"net": ("[ 3 ]", "[ 3 ] reshape { shape: [ 1, 3 ] }")}),
    wrong(
        "an ensemble in a circle",
        "IS957",
        {
            "@ring/config.pbtxt": RING,
            "@ring/1/": "",
            "pipe": [('"@pre"', '"@ring"'), ("[ 2 ]", "[ 3 ]")],
            "net": ("[ 2 ]", "[ 3 ]"),
        },
    ),
    fine(
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
    fine("a member that joins requests", {"net": "dynamic_batching { max_queue_delay_microseconds: 100 }"}),
    fine(
        "inputs of two models",
        {
            "@twin/config.pbtxt": PRE.replace("@pre", "@twin"),
            "@twin/1/model.py": "…",
            "net": 'input { name: "W" data_type: TYPE_FP32 dims: 3 }',
            "pipe": [_TWIN, (_SECOND, f'{_SECOND} input_map {{ key: "W" value: "others" }}')],
        },
    ),
    wrong(
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
    wrong("a member that is wrong itself", "IS930", {"net": "instance_group { kind: KIND_MODEL gpus: 0 }"}),
]
