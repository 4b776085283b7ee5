"""Images that SageMaker can pull but not start: their entry point is not for hosting."""

import re
from collections.abc import Iterator

from inferstack.catalog import images
from inferstack.check.rules.base import GUIDE, warning
from inferstack.facts.engines import name_of
from inferstack.facts.walk import containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem

_TRAINING_ONLY = "https://github.com/aws/sagemaker-tensorflow-training-toolkit/pull/372"
_CONTRACT = f"{GUIDE}/your-algorithms-inference-code.html"
_OF_TRAINING = re.compile(r"-training(?=-|$)")
# Names under which projects publish images whose entry points do not know the argument `serve`, with the
# framework of AWS's image.
# https://github.com/huggingface/text-generation-inference/issues/885
# https://github.com/huggingface/text-embeddings-inference/issues/569
# https://github.com/vllm-project/vllm/issues/11557
_OF_PROJECTS = {
    "vllm-openai": "vllm",
    "text-generation-inference": "huggingface-llm",
    "text-embeddings-inference": "huggingface-tei",
}


@warning("IS721", _TRAINING_ONLY)
def image_is_not_for_training(spec: ModelSpec) -> Iterator[Problem]:
    """An endpoint should not run an image that AWS builds for training.

    It has no model server: the container ends when SageMaker starts it with the argument `serve`.
    """
    for placed in containers(spec):
        found = name_of(placed) if isinstance(placed.image, str) else None
        if found is None or not images.is_in_aws_registry(str(placed.image)):
            continue
        other, count = _OF_TRAINING.subn("-inference", found[0])
        if count:
            message = f"`{found[0]}` is for training, and does not serve"
            yield Problem((*placed.path, "image"), message, f"use an image for inference, such as `{other}`")


@warning("IS722", _CONTRACT)
def image_starts_as_sagemaker_asks(spec: ModelSpec) -> Iterator[Problem]:
    """A copy of a project's own image needs an entry point for SageMaker.

    SageMaker starts containers with the argument `serve`, and asks on port 8080. The images that vLLM, TGI
    and TEI publish know neither; AWS's images of them do. An image of the same name may have been built on
    one of them, with another entry point.
    """
    for placed in containers(spec):
        found = name_of(placed) if isinstance(placed.image, str) else None
        if found is None or images.is_in_aws_registry(str(placed.image)) or found[0] not in _OF_PROJECTS:
            continue
        message = (
            f"as the project publishes it, `{found[0]}` does not start with SageMaker's argument `serve`"
        )
        fix = f"write `image: {{framework: {_OF_PROJECTS[found[0]]}, version: …}}`"
        fix += ", or if its entry point is yours, ignore IS722"
        yield Problem((*placed.path, "image"), message, fix)
