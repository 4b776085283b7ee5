"""Which images run Triton, as far as an image's name tells.

https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

from inferstack.spec.blocks.model import FrameworkImage

TRITON_FRAMEWORKS = frozenset({"triton", "sagemaker-tritonserver"})
"""The names of Triton among the frameworks."""
_REPOSITORY = "tritonserver"


def is_triton(image: str | FrameworkImage | None) -> bool:
    """Whether this is a Triton image by its framework or by the name of its repository."""
    match image:
        case FrameworkImage():
            return image.framework in TRITON_FRAMEWORKS
        case str():
            return _REPOSITORY in image
        case None:
            return False
