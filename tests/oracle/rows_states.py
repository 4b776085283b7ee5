"""What is done to the states of a model that answers sequences of requests."""

from oracle.mutations import Edit, Mutation, fine, wrong

_STATE = 'input_name: "IN" output_name: "OUT" data_type: TYPE_FP32 dims: [ 2 ]'
_FIRST = 'name: "first" data_type: TYPE_FP32 dims: [ 2 ] zero_data: true'
_FILE = _FIRST.replace("zero_data: true", 'data_file: "x"')


def _kept(state: str, *firsts: str, other: str = "") -> dict[str, Edit | list[Edit]]:
    """A model with a state, and the state's initial values."""
    start = 'name: "START" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] }'
    values = " ".join(f"initial_state {{ {first} }}" for first in firsts)
    return {
        "net": f"sequence_batching {{ control_input {{ {start} }} state {{ {state} {values} }} {other} }}"
    }


STATES = [
    fine("a state", _kept(_STATE)),
    fine("a state of any size", _kept(_STATE.replace("[ 2", "[ -1"))),
    fine("a state with a first value", _kept(_STATE, _FIRST)),
    fine("a state of any size with a first value", _kept(_STATE.replace("[ 2", "[ -1"), _FIRST)),
    fine("a first value that is not of zeros", _kept(_STATE, _FIRST.replace("true", "false"))),
    fine("a state of texts", _kept(_STATE.replace("FP32", "STRING"), _FIRST.replace("FP32", "STRING"))),
    fine("a state that is an input, too", _kept(_STATE.replace("IN", "X"), _FIRST)),
    fine("a state that nothing writes", _kept(_STATE.replace('output_name: "OUT"', ""), _FIRST)),
    fine("two states of one output", _kept(_STATE, other=f"state {{ {_STATE.replace('IN', 'SECOND')} }}")),
    fine("a first value in a file", {**_kept(_STATE, _FILE), "@net/initial_state/x": "8 bytes."}),
    wrong(
        "a first value in a short file", "IS966", {**_kept(_STATE, _FILE), "@net/initial_state/x": "7 bytes"}
    ),
    wrong("a first value in a file that is not there", "IS913", _kept(_STATE, _FILE)),
    wrong("a first value of another type", "IS966", _kept(_STATE, _FIRST.replace("FP32", "INT32"))),
    wrong("a first value without a name", "IS966", _kept(_STATE, _FIRST.replace('name: "first"', ""))),
    wrong("a first value of more dimensions", "IS966", _kept(_STATE, _FIRST.replace("[ 2", "[ 2, 1"))),
    wrong("a first value of another size", "IS966", _kept(_STATE, _FIRST.replace("[ 2", "[ 3"))),
    wrong(
        "a first value of any size",
        "IS966",
        _kept(_STATE.replace("[ 2", "[ -1"), _FIRST.replace("[ 2", "[ -1")),
    ),
    wrong("a first value without a value", "IS966", _kept(_STATE, _FIRST.replace("zero_data: true", ""))),
    wrong("two first values", "IS966", _kept(_STATE, _FIRST, _FIRST.replace("first", "second"))),
    wrong(
        "two states of one input, with first values",
        "IS966",
        _kept(_STATE, _FIRST, other=f"state {{ {_STATE} initial_state {{ {_FIRST} }} }}"),
    ),
    Mutation(
        "a state without an input",
        _kept(_STATE.replace('input_name: "IN"', "")),
        ("IS934",),
        "loads",
        "the first request ends the server",
        at_times_hangs=True,
    ),
    Mutation(
        "a state without a type",
        _kept(_STATE.replace("data_type: TYPE_FP32", "")),
        ("IS934",),
        "loads",
        "the first request ends the model",
        at_times_hangs=True,
    ),
    Mutation(
        "a state of less than any size",
        _kept(_STATE.replace("[ 2", "[ -2")),
        ("IS934",),
        "loads",
        "the first request ends the model",
        at_times_hangs=True,
    ),
]
