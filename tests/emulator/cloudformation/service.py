"""CloudFormation: all of it is ours, since moto's engine skips what it does not know and takes nothing back."""

from emulator.answering import Answering
from emulator.cloudformation import change_sets, descriptions, stacks
from moto.cloudformation.responses import CloudFormationResponse


class CloudFormation(Answering, CloudFormationResponse):
    """Operations on stacks and change sets."""

    operations = {**stacks.OPERATIONS, **change_sets.OPERATIONS, **descriptions.OPERATIONS}
    # moto's turn its own models into answers; ours are answers already.
    RESPONSE_KEY_PATH_TO_TRANSFORMER = {}
