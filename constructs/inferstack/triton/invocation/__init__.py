"""Bodies of requests to an endpoint with Triton, and of its answers, from and to numpy arrays.

    arrays -> request_body -> Body (bytes and their content type) -> invoke-endpoint
    invoke-endpoint -> bytes and their content type -> read_answer -> arrays

Nothing is converted silently: an array that is not what the model declares is refused, with an explanation.
https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

try:
    import numpy as _numpy
except ImportError:
    raise ImportError(
        "bodies are made from numpy arrays, and numpy is not installed: pip install 'inferstack[arrays]'"
    ) from None

from inferstack.triton.invocation.arrays import BodyError
from inferstack.triton.invocation.bodies import Body, read_answer, request_body

assert _numpy

__all__ = ["Body", "BodyError", "read_answer", "request_body"]
