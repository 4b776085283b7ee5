"""What is done to a model: its backend, batches, queues, instances."""

from oracle.mutations import Mutation, fine, wrong

MODELS = [
    fine("no backend, but its file", {"net": ('backend: "python"', "")}),
    wrong(
        "no backend, and a file of none",
        "IS920",
        {"net": ('backend: "python"', ""), "@net/1/model.py": None, "@net/1/model.bin": "?"},
    ),
    wrong(
        "no backend but a file that its folder does not show first",
        "IS920",
        {"net": ('backend: "python"', ""), "@net/+/x": "?"},
    ),
    fine(
        "no backend, and files of two",
        {"net": ('backend: "python"', ""), "@net/1/model.py": "raise SystemExit", "@net/1/model.onnx": "?"},
    ),
    wrong("an unknown platform", "IS920", {"net": ('backend: "python"', 'platform: "torchscript"')}),
    wrong(
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
    wrong("a batch size below zero", "IS922", {"net": ("max_batch_size: 8", "max_batch_size: -1")}),
    fine("no batches", {"net": ("max_batch_size: 8", "max_batch_size: 0")}),
    wrong("preferring more than the most", "IS923", {"net": "dynamic_batching { preferred_batch_size: 9 }"}),
    wrong("preferring nothing", "IS923", {"net": "dynamic_batching { preferred_batch_size: 0 }"}),
    wrong(
        "preferring a size without batches",
        "IS923",
        {"net": [("max_batch_size: 8", ""), "dynamic_batching { preferred_batch_size: 1 }"]},
    ),
    fine("requests joined without batches", {"net": [("max_batch_size: 8", ""), "dynamic_batching {}"]}),
    fine(
        "requests joined, with priorities",
        {
            "net": "dynamic_batching { preferred_batch_size: [ 4, 8 ] "
            "priority_levels: 2 default_priority_level: 1 }"
        },
    ),
    wrong("priorities without a usual one", "IS924", {"net": "dynamic_batching { priority_levels: 2 }"}),
    wrong(
        "a priority above the levels",
        "IS924",
        {"net": "dynamic_batching { priority_levels: 2 default_priority_level: 3 }"},
    ),
    wrong(
        "a queue above the levels",
        "IS924",
        {
            "net": "dynamic_batching { priority_levels: 2 default_priority_level: 1 "
            "priority_queue_policy { key: 3 value { max_queue_size: 4 } } }"
        },
    ),
    fine("answers in order", {"net": "dynamic_batching { preserve_ordering: true }"}),
    wrong(
        "answers in order with two priorities",
        "IS925",
        {"net": "dynamic_batching { preserve_ordering: true priority_levels: 2 default_priority_level: 1 }"},
    ),
    wrong(
        "answers in order with delays",
        "IS925",
        {
            "net": "dynamic_batching { preserve_ordering: true default_queue_policy "
            "{ timeout_action: DELAY default_timeout_microseconds: 5 } }"
        },
    ),
    wrong(
        "a cache of several answers",
        "IS926",
        {"net": "response_cache { enable: true } model_transaction_policy { decoupled: true }"},
    ),
    wrong("a cache of sequences", "IS926", {"net": "response_cache { enable: true } sequence_batching {}"}),
    wrong("a field of later releases", "IS970", {"net": "model_metrics {}"}),
    fine("instances", {"net": "instance_group { kind: KIND_CPU count: 2 }"}),
    fine("instances that are not counted", {"net": "instance_group { kind: KIND_CPU count: 0 }"}),
    fine("instances of the model's own", {"net": "instance_group { kind: KIND_MODEL }"}),
    wrong("a GPU for the CPU", "IS930", {"net": "instance_group { kind: KIND_CPU gpus: 0 }"}),
    wrong("a GPU for the model's own", "IS930", {"net": "instance_group { kind: KIND_MODEL gpus: 0 }"}),
    wrong("a GPU that is not there", "IS931", {"net": "instance_group { kind: KIND_GPU }"}),
    wrong("a GPU that may be there", "IS931", {"net": "instance_group { gpus: 0 }"}),
    wrong("a profile for Python", "IS932", {"net": 'instance_group { kind: KIND_CPU profile: "0" }'}),
    fine(
        "a cache, a limit of rates, parameters, and an optimization",
        {
            "net": [
                "response_cache { enable: true }",
                'instance_group { rate_limiter { resources { name: "R" count: 1 } } }',
                'parameters { key: "any" value { string_value: "thing" } }',
                "optimization { priority: PRIORITY_MAX }",
            ]
        },
    ),
]
