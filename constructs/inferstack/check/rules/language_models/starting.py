"""Does a copy of a model have the time that it takes to start?"""

import re
from collections.abc import Iterator

from inferstack.check.rules.base import CONTAINER_PAGE
from inferstack.check.rules.containers.artifacts import has_files
from inferstack.check.rules.language_models.model_files import OF_MODELS, Described
from inferstack.engines.start import (
    DOWNLOAD,
    HEALTH_CHECK,
    LONGEST,
    seconds_to_read,
    start_limits,
    start_timeout,
)
from inferstack.problems import Problem

_LMI = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html"
# "… during the 8 minutes after startup"; for downloads, AWS names none.
_UNSAID = {HEALTH_CHECK: 480}


@OF_MODELS.warning("IS365", CONTAINER_PAGE)
def start_has_time(described: Described) -> Iterator[Problem]:
    """A copy should have as long to start as reading its weights may take.

    Logs show 100 MB a second and more. SageMaker waits 8 minutes until the container answers, unless the spec
    says otherwise; an engine that downloads the weights itself does it in that time.
    """
    size = described.model.weight_bytes
    if size is None or described.running is None:
        return
    needed = seconds_to_read(size)
    for path, block in start_limits(described.placed):
        for key in (DOWNLOAD, HEALTH_CHECK):
            written = getattr(block, key, None)
            limit = _UNSAID.get(key) if written is None else written
            is_unused = key == DOWNLOAD and not has_files(described.placed.container)
            if limit is not None and limit < min(needed, LONGEST) and not is_unused:
                weights = f"{size / 1e9:.0f} GB of weights"
                message = f"reading {weights} may take {needed} s, but only {limit} are allowed"
                at = described.path if written is None else (*path, key)
                most = ", the longest that SageMaker waits" if needed > LONGEST else ""
                yield Problem(at, message, f"write `{key}: {start_timeout(size)}`{most}")


@OF_MODELS.warning("IS392", _LMI)
def lmi_has_time_to_load(described: Described) -> Iterator[Problem]:
    """LMI should have as long to load a model as reading its weights may take.

    Its image waits 20 minutes, whatever SageMaker would wait, unless `OPTION_MODEL_LOADING_TIMEOUT` says
    otherwise.
    """
    size, environment = described.model.weight_bytes, described.placed.environment
    if size is None or described.running is None or described.running.name != "lmi":
        return
    # The first of them replaces the others.
    name = next((it for it in _OF_LMI if it in environment), None)
    if name is None and has_files(described.placed.container):
        # A `serving.properties` among them may say it.
        return
    limit = _LOADING if name is None else environment[name]
    needed = min(seconds_to_read(size), LONGEST)
    if re.fullmatch("[0-9]{1,9}", limit) and int(limit) < needed:
        message = f"LMI may take {needed} s to read {size / 1e9:.0f} GB of weights, but ends after {limit}"
        at = described.path if name is None else (*described.placed.path, "environment", name)
        yield Problem(at, message, f'write `{name or _OF_LMI[1]}: "{start_timeout(size)}"`')


_OF_LMI = ("SAGEMAKER_STARTUP_TIMEOUT", "OPTION_MODEL_LOADING_TIMEOUT", "MODEL_LOADING_TIMEOUT")
_LOADING = "1200"
