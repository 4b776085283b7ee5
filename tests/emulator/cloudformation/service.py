"""CloudFormation: entirely our own, since moto's engine skips what it does not know and never rolls back."""

from emulator.answering import Answering
from emulator.cloudformation import change_sets, descriptions, exports, stacks
from moto.cloudformation.responses import CloudFormationResponse


class CloudFormation(Answering, CloudFormationResponse):
    """Operations on stacks and change sets."""

    operations = {
        **stacks.OPERATIONS,
        **change_sets.OPERATIONS,
        **descriptions.OPERATIONS,
        **exports.OPERATIONS,
    }
    # moto's transformers turn its own models into answers; ours are already answers.
    RESPONSE_KEY_PATH_TO_TRANSFORMER = {}
