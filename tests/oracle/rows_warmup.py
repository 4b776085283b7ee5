"""What is done to the requests that warm a model up."""

from oracle.mutations import Edit, Mutation, fine, wrong

_ZEROS = 'inputs { key: "X" value { data_type: TYPE_FP32 dims: 3 zero_data: true } }'
_FROM_FILE = _ZEROS.replace("zero_data: true", 'input_data_file: "x"')


def _warm(sample: str) -> dict[str, Edit | list[Edit]]:
    return {"net": f'model_warmup {{ name: "w" {sample} }}'}


WARMUP = [
    fine("warm", _warm(f"batch_size: 8 {_ZEROS}")),
    fine("warm with chances", _warm(f"batch_size: 1 {_ZEROS.replace('zero', 'random')}")),
    fine("warm without a batch", _warm(_ZEROS)),
    Mutation(
        "warm beyond the most",
        _warm(f"batch_size: 9 {_ZEROS}"),
        ("IS949",),
        "refuses",
        at_times_hangs=True,
    ),
    wrong(
        "warm in open dimensions", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('dims: 3', 'dims: -1')}")
    ),
    wrong("warm in another shape", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('dims: 3', 'dims: 4')}")),
    wrong("warm in another type", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('FP32', 'INT32')}")),
    wrong("warm with another input", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('X', 'Q')}")),
    wrong("warm with no input", "IS949", _warm("batch_size: 1")),
    wrong("warm with no values", "IS949", _warm(f"batch_size: 1 {_ZEROS.replace('zero_data: true', '')}")),
    wrong(
        "warm from a file that is not there",
        "IS913",
        _warm(f"batch_size: 1 {_FROM_FILE}"),
    ),
    fine(
        "warm from a file",
        {
            **_warm(f"batch_size: 1 {_FROM_FILE}"),
            "@net/warmup/x": "12 bytes are",
        },
    ),
]
