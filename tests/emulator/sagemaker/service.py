"""SageMaker: hosting is ours, the rest is moto's."""

from emulator.answering import Answering
from emulator.sagemaker import components, endpoints, models, tags
from moto.sagemaker.responses import SageMakerResponse


class SageMaker(Answering, SageMakerResponse):
    """moto lacks inference components, UpdateEndpoint, and the instance types of recent years."""

    operations = {**models.OPERATIONS, **endpoints.OPERATIONS, **components.OPERATIONS, **tags.OPERATIONS}
