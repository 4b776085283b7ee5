"""SageMaker: hosting is ours, the rest is moto's."""

from emulator.answering import Answering
from emulator.sagemaker import components, endpoints, jobs, models, tags
from moto.sagemaker.responses import SageMakerResponse


class SageMaker(Answering, SageMakerResponse):
    """moto lacks inference components, UpdateEndpoint, jobs that measure models, and the instance types of recent
    years.
    """

    operations = {
        **models.OPERATIONS,
        **endpoints.OPERATIONS,
        **components.OPERATIONS,
        **jobs.OPERATIONS,
        **tags.OPERATIONS,
    }
