"""What is done to inputs and outputs: names, types, shapes, and the controls of sequences."""

from oracle.mutations import Mutation, fine, wrong

# Stands for a backend that reads what a tensor does not say from the model's file.
_COMPLETED = {"@net/1/model.py": None, "@net/1/model.onnx": "?"}
_ONNX = ('backend: "python"', 'backend: "onnxruntime"')

TENSORS = [
    wrong("an input without a name", "IS935", {"net": ('name: "X" ', "")}),
    wrong("an input without a type", "IS935", {"net": ('"X" data_type: TYPE_FP32', '"X"')}),
    wrong("an input without dimensions", "IS935", {"net": ("dims: [ 3 ]", "")}),
    wrong("an output without a name", "IS935", {"net": ('name: "Y" ', "")}),
    wrong("an output without a type", "IS935", {"net": ('"Y" data_type: TYPE_FP32', '"Y"')}),
    wrong("an output without dimensions", "IS935", {"net": ("dims: [ 2 ]", "")}),
    fine("tensors of a backend that completes", {"net": _ONNX, **_COMPLETED}),
    wrong("an input that no backend completes", "IS935", {"net": [_ONNX, ('name: "X" ', "")], **_COMPLETED}),
    wrong("an output that no backend completes", "IS935", {"net": [_ONNX, ('name: "Y" ', "")], **_COMPLETED}),
    wrong(
        "an input of nothing that no backend completes",
        "IS935",
        {"net": [_ONNX, ('name: "X" data_type: TYPE_FP32 dims: [ 3 ]', "")], **_COMPLETED},
    ),
    wrong("a dimension of zero", "IS936", {"net": ("[ 3 ]", "[ 0 ]")}),
    wrong("a dimension below -1", "IS936", {"net": ("[ 3 ]", "[ -2 ]")}),
    wrong("an output of zero", "IS936", {"net": ("[ 2 ]", "[ 2, 0 ]")}),
    fine("open dimensions", {"net": ("[ 3 ]", "[ -1, 4, -1 ]")}),
    fine(
        "another shape of as many, of input and output",
        {
            "net": [
                ("[ 3 ]", "[ 3 ] reshape { shape: [ 1, 3 ] }"),
                ("[ 2 ]", "[ 2 ] reshape { shape: [ 2, 1 ] }"),
            ]
        },
    ),
    wrong("another shape of more", "IS937", {"net": ("[ 3 ]", "[ 3 ] reshape { shape: [ 4 ] }")}),
    wrong("another shape of none", "IS937", {"net": ("[ 2 ]", "[ 2 ] reshape { shape: [ ] }")}),
    fine("no shape but the batch", {"net": ("[ 3 ]", "[ 1 ] reshape { shape: [ ] }")}),
    wrong(
        "no shape and no batch",
        "IS937",
        {"net": [("max_batch_size: 8", ""), ("[ 3 ]", "[ 1 ] reshape { shape: [ ] }")]},
    ),
    wrong(
        "open dimensions in another shape", "IS937", {"net": ("[ 3 ]", "[ -1 ] reshape { shape: [ 1, 3 ] }")}
    ),
    fine("open dimensions that stay open", {"net": ("[ 3 ]", "[ -1, 2 ] reshape { shape: [ -1, 1, 2 ] }")}),
    fine("an image", {"net": ("dims: [ 3 ]", "dims: [ 4, 4, 3 ] format: FORMAT_NHWC")}),
    wrong("an image of one dimension", "IS938", {"net": ("[ 3 ]", "[ 3 ] format: FORMAT_NCHW")}),
    wrong("a shape as an input", "IS939", {"net": ("[ 3 ]", "[ 3 ] is_shape_tensor: true")}),
    wrong(
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
    fine(
        "an input that may be left out",
        {"net": 'input { name: "Z" data_type: TYPE_BOOL dims: 1 optional: true }'},
    ),
    fine(
        "texts, and halves",
        {
            "net": [
                ('"X" data_type: TYPE_FP32', '"X" data_type: TYPE_STRING'),
                ('"Y" data_type: TYPE_FP32', '"Y" data_type: TYPE_FP16'),
            ]
        },
    ),
    wrong(
        "a length of nothing",
        "IS944",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP32 source_input: "Q" }'
        },
    ),
    wrong(
        "a length in halves",
        "IS944",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP16 source_input: "X" }'
        },
    ),
    fine(
        "a length",
        {
            "net": 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_FP32 source_input: "X" }'
        },
    ),
    wrong(
        "a part of no output",
        "IS945",
        {"net": 'batch_output { target_name: "Q" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "X" }'},
    ),
    wrong(
        "more free slots than all",
        "IS948",
        {"net": "sequence_batching { direct { minimum_slot_utilization: 2 } }"},
    ),
    wrong(
        "a start that is said twice",
        "IS946",
        {
            "net": "sequence_batching {"
            + 'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }'
            + 'control_input { name: "T" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }'
        },
    ),
    wrong(
        "a start in one value",
        "IS947",
        {
            "net": "sequence_batching {"
            'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 1 ] } } }'
        },
    ),
    fine(
        "a start in two values",
        {
            "net": "sequence_batching {"
            'control_input { name: "S" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }'
        },
    ),
]
