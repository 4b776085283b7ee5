"""What an editor shows beside the fields of a Triton model, in inferstack's own words.

By message (or enum) of model_config.proto and field; the empty field name stands for the message itself.
``tools.triton_schema`` refuses a message without a sentence, and a sentence without a field.
"""

from collections.abc import Mapping

MAX_QUEUE_DELAY = "Longest wait of a request for others to share its batch, in microseconds; 0 does not wait."
PREFERRED_BATCH_SIZE = "Batch sizes that are run as soon as they are reached; none above `max_batch_size`."
PRESERVE_ORDERING = "Answer in the order in which requests came, even if a later one is done first."
IS_SHAPE_TENSOR = "TensorRT only: the tensor holds a shape, not data."
IS_NON_LINEAR_FORMAT_IO = "TensorRT only: the tensor is laid out in a vectorized, non-linear format."
DATA_TYPE = "Element type, for example `TYPE_FP32`."
BATCH_SIZE_OF_GRAPH = "Batch size, 1 to `max_batch_size`; 0 for a model that does not batch."

DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "ModelConfig": {
        "": "A model in Triton's repository: its config.pbtxt, written as YAML.",
        "name": "Name of the model. Leave it out: it is the key that holds the model, and its folder.",
        "platform": (
            "Backend and model format in one word, for example `tensorrt_plan`, `onnxruntime_onnx`, "
            "`pytorch_libtorch`, or `ensemble`."
        ),
        "backend": "Backend that runs the model, for example `python`, `onnxruntime` or `dali`.",
        "runtime": "Library or Python module that the backend runs the model with, if not its usual one.",
        "version_policy": "Which of the version folders are served; the highest number alone by default.",
        "max_batch_size": (
            "Most requests in one batch. 0: the model does not batch and `dims` are complete; "
            "otherwise a batch dimension is put before `dims`."
        ),
        "input": "Tensors that a request brings.",
        "output": "Tensors that a response carries.",
        "batch_input": "Extra inputs that the backend derives from the whole batch, for ragged batches.",
        "batch_output": "Outputs that have to be cut up by the shapes of the inputs, for ragged batches.",
        "optimization": "How the backend may optimize the model while loading it, and how it moves data.",
        "dynamic_batching": "Join single requests to batches. An empty mapping takes Triton's defaults.",
        "sequence_batching": "Send all requests of a sequence to the same instance, for models with state.",
        "ensemble_scheduling": "Run a graph of other models as one; needs `platform: ensemble`.",
        "instance_group": "How many copies of the model run, and where; one for each GPU by default.",
        "default_model_filename": "Model file in a version folder, if not the backend's usual one.",
        "cc_model_filenames": "Model file by CUDA compute capability, such as `7.5`.",
        "metric_tags": "Labels put on the metrics that Triton reports for this model.",
        "parameters": "Settings for the backend. Plain values: `true` and `12` are handed on as text.",
        "model_warmup": "Requests that Triton makes up and runs before the model counts as ready.",
        "model_operations": "Libraries with custom operators that the model needs.",
        "model_transaction_policy": "Whether the model answers each request exactly once.",
        "model_repository_agents": "Agents that work on the model's files when it is loaded or unloaded.",
        "response_cache": "Answer repeated requests from a cache; the server needs `--cache-config` too.",
        "model_metrics": "Changes to the metrics that Triton reports for this model.",
    },
    "DataType": {"": "Element type of a tensor."},
    "ModelInput": {
        "": "A tensor that a request brings.",
        "name": "Name of the input, as in the model file; `NAME__0`, `NAME__1` … by position for PyTorch.",
        "data_type": DATA_TYPE,
        "format": "Order of an image's dimensions; the tensor then needs three `dims`.",
        "dims": "Shape without the batch dimension; -1 is a dimension of any size.",
        "reshape": "Shape in which the backend wants the data, with as many elements as `dims`.",
        "is_shape_tensor": IS_SHAPE_TENSOR,
        "allow_ragged_batch": "Batch requests together even if their shapes of this input differ.",
        "optional": "A request may leave this input out.",
        "is_non_linear_format_io": IS_NON_LINEAR_FORMAT_IO,
    },
    "ModelInput.Format": {"": "Order of an image's dimensions."},
    "ModelOutput": {
        "": "A tensor that a response carries.",
        "name": "Name of the output, as in the model file; `NAME__0`, `NAME__1` … by position for PyTorch.",
        "data_type": DATA_TYPE,
        "dims": "Shape without the batch dimension; -1 is a dimension of any size.",
        "reshape": "Shape in which the backend gives the data, with as many elements as `dims`.",
        "label_filename": "File in the model's folder with one class name a line, for classification.",
        "is_shape_tensor": IS_SHAPE_TENSOR,
        "is_non_linear_format_io": IS_NON_LINEAR_FORMAT_IO,
    },
    "ModelTensorReshape": {
        "": "Another shape for the same elements.",
        "shape": "Shape without the batch dimension; empty for a scalar.",
    },
    "BatchInput": {
        "": "An input that the backend computes from all requests of a batch.",
        "kind": "What is computed.",
        "target_name": "Names of the model's inputs that receive the value.",
        "data_type": "`TYPE_INT32` or `TYPE_FP32`.",
        "source_input": "Name of the input from which the value is computed.",
    },
    "BatchInput.Kind": {"": "What is computed from the batch: numbers of elements, or shapes."},
    "BatchOutput": {
        "": "An output of a whole batch that is shared out among its requests.",
        "target_name": "Names of the outputs to share out.",
        "kind": "How it is shared out.",
        "source_input": "Name of the input whose shapes decide.",
    },
    "BatchOutput.Kind": {"": "How an output is shared out among the requests of a batch."},
    "ModelInstanceGroup": {
        "": "Copies of the model on one kind of device.",
        "name": "Name of the group in logs; made from the model's name by default.",
        "kind": "Device. By default a GPU if the machine has one, else the CPU.",
        "count": "Copies on each GPU of the group, or in all on the CPU; 1 by default.",
        "rate_limiter": "What an instance must hold before it runs a request.",
        "gpus": "GPU numbers, from 0; all GPUs by default. Do not pin them on a multi-model endpoint.",
        "secondary_devices": "Further devices that an instance needs.",
        "profile": "TensorRT only: numbers of the optimization profiles to use, as strings.",
        "passive": "Load the instances but give them no requests.",
        "host_policy": "Name of the host policy (CPU cores, NUMA node) that the instances follow.",
    },
    "ModelInstanceGroup.Kind": {"": "Device of an instance; `KIND_MODEL` leaves the choice to the model."},
    "ModelInstanceGroup.SecondaryDevice": {
        "": "A further device that an instance needs.",
        "kind": "Kind of device.",
        "device_id": "Number of the device.",
    },
    "ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind": {"": "Kind of a secondary device."},
    "ModelRateLimiter": {
        "": "Resources that an instance takes while it runs a request.",
        "resources": "What an instance takes; it waits until everything is free.",
        "priority": "Weight against other instances: 2 gets half as many turns as 1.",
    },
    "ModelRateLimiter.Resource": {
        "": "An amount of a named resource.",
        "name": "Name of the resource, free to choose.",
        "global": "Shared by all devices rather than counted on each.",
        "count": "How much of it an instance takes.",
    },
    "ModelVersionPolicy": {
        "": "Which of a model's version folders are served.",
        "latest": "The highest version numbers.",
        "all": "Every version; written as an empty mapping.",
        "specific": "The versions of a list.",
    },
    "ModelVersionPolicy.Latest": {
        "": "Serve the highest version numbers.",
        "num_versions": "How many of the highest versions are served, at least 1.",
    },
    "ModelVersionPolicy.All": {"": "Serve every version."},
    "ModelVersionPolicy.Specific": {"": "Serve the versions listed.", "versions": "Version numbers."},
    "ModelOptimizationPolicy": {
        "": "How the backend optimizes the model and moves its data.",
        "graph": "General graph optimization, for ONNX Runtime and TensorFlow.",
        "priority": "TensorRT only: precedence of this model's work on the GPU.",
        "cuda": "TensorRT only: CUDA graphs and streams.",
        "execution_accelerators": "Accelerators inside the backend, such as TensorRT in ONNX Runtime.",
        "input_pinned_memory": "Copy inputs to the GPU through pinned memory; on by default.",
        "output_pinned_memory": "Copy outputs from the GPU through pinned memory; on by default.",
        "gather_kernel_buffer_threshold": (
            "TensorRT only: gather inputs with a kernel from this number of buffers on; 0 never does."
        ),
        "eager_batching": "TensorRT only: prepare a batch while another runs; batches may get smaller.",
    },
    "ModelOptimizationPolicy.Graph": {
        "": "General graph optimization.",
        "level": "0 is the backend's default, -1 the least, 1 and more are steps of the backend.",
    },
    "ModelOptimizationPolicy.ModelPriority": {"": "Precedence of a model's work on the GPU."},
    "ModelOptimizationPolicy.Cuda": {
        "": "CUDA settings of the TensorRT backend.",
        "graphs": "Record the work as CUDA graphs and replay them, which saves launch time.",
        "busy_wait_events": "Spin while waiting for the GPU: lower latency, a busy CPU core.",
        "graph_spec": "Shapes to record graphs for; derived from the model by default.",
        "output_copy_stream": "Copy outputs in a stream of their own; tensors take twice the memory.",
    },
    "ModelOptimizationPolicy.Cuda.GraphSpec": {
        "": "Shapes for which a CUDA graph is recorded.",
        "batch_size": BATCH_SIZE_OF_GRAPH,
        "input": "Shape of each input, without the batch dimension.",
        "graph_lower_bound": "Smallest shapes that may use this graph too.",
    },
    "ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound": {
        "": "Smallest shapes that may use a recorded graph.",
        "batch_size": BATCH_SIZE_OF_GRAPH,
        "input": "Shape of each input, without the batch dimension.",
    },
    "ModelOptimizationPolicy.Cuda.GraphSpec.Shape": {"": "A shape.", "dim": "Sizes of the dimensions."},
    "ModelOptimizationPolicy.ExecutionAccelerators": {
        "": "Accelerators to try, the first one first.",
        "gpu_execution_accelerator": "For instances on a GPU, for example `tensorrt`.",
        "cpu_execution_accelerator": "For instances on the CPU, for example `openvino`.",
    },
    "ModelOptimizationPolicy.ExecutionAccelerators.Accelerator": {
        "": "An accelerator inside a backend.",
        "name": "Name that the backend knows it by.",
        "parameters": "Its settings. Plain values: `true` and `12` are handed on as text.",
    },
    "ModelOptimizationPolicy.PinnedMemoryBuffer": {
        "": "Whether pinned memory lies between host and GPU.",
        "enable": "Use pinned memory.",
    },
    "ModelDynamicBatching": {
        "": "Joins requests that wait at the same time to one batch.",
        "preferred_batch_size": PREFERRED_BATCH_SIZE,
        "max_queue_delay_microseconds": MAX_QUEUE_DELAY,
        "preserve_ordering": PRESERVE_ORDERING,
        "priority_levels": "Number of priorities; 1 is served first. 0 has none.",
        "default_priority_level": "Priority of a request that names none, 1 to `priority_levels`.",
        "default_queue_policy": "Length and time limit of the queue.",
        "priority_queue_policy": 'Queue limits by priority; the keys are quoted numbers, such as `"1"`.',
    },
    "ModelQueuePolicy": {
        "": "Limits of a queue of waiting requests.",
        "timeout_action": "What becomes of a request that has waited too long; `REJECT` by default.",
        "default_timeout_microseconds": "Longest wait in microseconds; 0 has no limit.",
        "allow_timeout_override": "A request may ask for a shorter wait.",
        "max_queue_size": "Requests that may wait; more are refused at once. 0 has no limit.",
    },
    "ModelQueuePolicy.TimeoutAction": {"": "`REJECT` answers with an error, `DELAY` puts the request last."},
    "ModelSequenceBatching": {
        "": "Keeps the requests of a sequence (one correlation ID) together.",
        "direct": "Each sequence has its own slot in a batch until it ends; the default.",
        "oldest": "Batches are made from the oldest requests of several sequences.",
        "max_sequence_idle_microseconds": "Longest pause before a sequence is dropped; 0 is one second.",
        "control_input": "Inputs through which the model learns where a sequence starts and ends.",
        "state": "Tensors that Triton keeps from one request of a sequence to the next.",
        "iterative_sequence": "The model asks for its request to be run again until it is done.",
    },
    "ModelSequenceBatching.Control": {
        "": "A signal of the sequence batcher to the model.",
        "kind": "What the signal says.",
        "int32_false_true": "Two integers: the values for no and yes.",
        "fp32_false_true": "Two numbers: the values for no and yes.",
        "bool_false_true": "Two booleans: the values for no and yes.",
        "data_type": "Integer type of the correlation ID's tensor; only for `CONTROL_SEQUENCE_CORRID`.",
    },
    "ModelSequenceBatching.Control.Kind": {"": "Start, end, readiness, or correlation ID of a sequence."},
    "ModelSequenceBatching.ControlInput": {
        "": "An input of the model that carries signals of the batcher.",
        "name": "Name of the input.",
        "control": "Signals that it carries.",
    },
    "ModelSequenceBatching.InitialState": {
        "": "Where a sequence's state begins.",
        "data_type": DATA_TYPE,
        "dims": "Shape without the batch dimension.",
        "zero_data": "Begin with zeros.",
        "data_file": "Begin with the content of this file in the model's `initial_state` folder.",
        "name": "Name of the initialization.",
    },
    "ModelSequenceBatching.State": {
        "": "A state: what one request puts out, the next one gets.",
        "input_name": "Input that receives the state.",
        "output_name": "Output that yields the next state.",
        "data_type": DATA_TYPE,
        "dims": "Shape of the state.",
        "initial_state": "Value before the first request.",
        "use_same_buffer_for_input_output": "Keep old and new state in one buffer; saves memory.",
        "use_growable_memory": "Let the state grow in place; GPU only, needs the shared buffer.",
    },
    "ModelSequenceBatching.StrategyDirect": {
        "": "A slot of a batch for each sequence.",
        "max_queue_delay_microseconds": MAX_QUEUE_DELAY,
        "minimum_slot_utilization": "Share of slots, 0 to 1, that is enough to run before the delay is over.",
    },
    "ModelSequenceBatching.StrategyOldest": {
        "": "Batches from the oldest requests of several sequences.",
        "max_candidate_sequences": "Sequences that are worked on at a time; others wait.",
        "preferred_batch_size": PREFERRED_BATCH_SIZE,
        "max_queue_delay_microseconds": MAX_QUEUE_DELAY,
        "preserve_ordering": PRESERVE_ORDERING,
    },
    "ModelEnsembling": {
        "": "A graph of models, joined by the names of the tensors between them.",
        "step": "The models and how they are joined. Names decide the order, not the place in the list.",
        "max_inflight_requests": "Most responses of a step that may wait for the next one; 0 has no limit.",
    },
    "ModelEnsembling.Step": {
        "": "One model of an ensemble.",
        "model_name": "Name of the model in the same repository.",
        "model_version": "Version to call; -1 is the newest. Left out it is version 0, seldom there.",
        "input_map": "The model's input -> tensor of the ensemble that feeds it.",
        "output_map": "The model's output -> tensor of the ensemble that it becomes.",
        "model_namespace": "Reserved by Triton for itself; leave it out.",
    },
    "ModelParameter": {
        "": "A plain value, or `{string_value: …}` as in config.pbtxt.",
        "string_value": "The value as text.",
    },
    "ModelWarmup": {
        "": "A made-up request that is run before the model counts as ready.",
        "name": "Name of the request in logs.",
        "batch_size": "Size of the batch, at least 1; 1 for a model that does not batch.",
        "inputs": "Data of each input, by the input's name.",
        "count": "How often the request is run; 0 runs it once.",
    },
    "ModelWarmup.Input": {
        "": "Made-up data of an input. Needs one of `zero_data`, `random_data`, `input_data_file`.",
        "data_type": DATA_TYPE,
        "dims": "Shape without the batch dimension; every size must be given.",
        "zero_data": "Fill with zeros.",
        "random_data": "Fill with random values.",
        "input_data_file": "Fill from this file in the model's `warmup` folder.",
    },
    "ModelOperations": {
        "": "Custom operators that the model needs.",
        "op_library_filename": "ONNX only: paths of the libraries.",
    },
    "ModelTransactionPolicy": {
        "": "How requests and responses belong together.",
        "decoupled": "The model may answer a request never, once or often; refused by multi-model endpoints.",
    },
    "ModelRepositoryAgents": {
        "": "Agents that work on the model's files.",
        "agents": "Agents in the order in which they are called.",
    },
    "ModelRepositoryAgents.Agent": {
        "": "An agent that works on the model's files, such as `checksum`.",
        "name": "Name of the agent.",
        "parameters": "Its settings. Plain values: `true` and `12` are handed on as text.",
    },
    "ModelResponseCache": {
        "": "Answers repeated requests without running the model.",
        "enable": "Use the cache.",
    },
    "ModelMetrics": {
        "": "Changes to the metrics of a model.",
        "metric_control": "One entry for each metric family.",
    },
    "ModelMetrics.MetricControl": {
        "": "A change to one metric family.",
        "metric_identifier": "Which metrics.",
        "histogram_options": "Other buckets for a histogram.",
    },
    "ModelMetrics.MetricControl.MetricIdentifier": {
        "": "Names a metric family.",
        "family": "Name of the metric family, for example `nv_inference_first_response_histogram_ms`.",
    },
    "ModelMetrics.MetricControl.HistogramOptions": {
        "": "Buckets of a histogram.",
        "buckets": "Upper bounds in ascending order.",
    },
}
