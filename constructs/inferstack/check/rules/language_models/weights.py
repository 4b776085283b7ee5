"""Where an engine finds the model, and what must be there so that SageMaker reaches it."""

import re
from collections.abc import Iterator

from inferstack.check.rules.base import CONTAINER_PAGE, warning
from inferstack.check.rules.containers.artifacts import has_files
from inferstack.check.rules.language_models.judged import Judged, judged
from inferstack.engines.engine import ENGINES
from inferstack.engines.settings import family_of, setting
from inferstack.facts.engines import engine_of
from inferstack.facts.scaling import scaled_with
from inferstack.facts.walk import containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem

_CONTRACT = "https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html"
_S3 = "https://docs.aws.amazon.com/sagemaker/latest/dg/large-model-inference-uncompressed.html"
_PAGE = re.compile(r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)/?(?!.*\.gguf)")
_OWN_HUB_ID = "HF_MODEL_ID"
_FOLDER = "/opt/ml/model"
_HUB_IDS = {"llama-cpp": "SM_LLAMA_CPP_HF_REPO"}
"""The variable for an id of the hub, of engines where it is another one than that for files."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
# Both exit without it, whatever files there are.
_NEEDS_HUB_ID = frozenset({"tgi", "tei"})
# https://github.com/huggingface/text-generation-inference/issues/751
_OTHER_TOKENS = ("HF_API_TOKEN", "HUGGINGFACE_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN")
_BOTH_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
# Older versions of TGI read the longer name only, newer ones both.
_READ_TOKENS = {
    **dict.fromkeys(("vllm", "sglang", "lmi"), _BOTH_TOKENS),
    "tgi": _BOTH_TOKENS[::-1],
    "tei": ("HF_API_TOKEN", "HF_TOKEN"),
}
_PORT, _HOSTS = "8080", frozenset({"", "0.0.0.0", "::"})


@warning("IS374", CONTAINER_PAGE)
def engine_is_told_where_the_files_are(spec: ModelSpec) -> Iterator[Problem]:
    """TGI and TEI should be told that the model is among the files.

    Their containers exit without `HF_MODEL_ID`, even if there are files.
    """
    for it in judged(spec):
        is_told = it.running.name not in _NEEDS_HUB_ID or _OWN_HUB_ID in it.placed.environment
        if not is_told and has_files(it.placed.container):
            message = f"{it.title} exits without `{_OWN_HUB_ID}`, although the container has files"
            fix = f"add `{_OWN_HUB_ID}: {_FOLDER}` to `environment`"
            yield Problem((*it.placed.path, "environment"), message, fix)


@warning("IS390", CONTAINER_PAGE)
def name_on_the_hub_is_not_empty(spec: ModelSpec) -> Iterator[Problem]:
    """`HF_MODEL_ID` should not be empty.

    TGI and TEI exit as they do without it, and others ask the hub for a model without a name, or serve one
    that nobody chose. Files that an engine serves first are not held up by it.
    """
    for placed in containers(spec):
        value = placed.environment.get(_OWN_HUB_ID)
        engine = engine_of(placed)
        known = None if engine is None else ENGINES.get(engine.name)
        is_idle = known is not None and known.files_first and has_files(placed.container)
        if value is not None and not value.strip() and not is_idle:
            path = (*placed.path, "environment", _OWN_HUB_ID)
            fix = f"write a name on the hub, or `{_FOLDER}` for the container's files, or remove it"
            yield Problem(path, f"`{_OWN_HUB_ID}` is empty, and names no model", fix)


@warning("IS391", "user reports")
def token_has_the_name_that_is_read(spec: ModelSpec) -> Iterator[Problem]:
    """A token for Hugging Face's hub should be in the variable that the engine reads.

    Without it, the hub refuses gated and private models. Only TEI reads `HF_API_TOKEN`, and none reads
    `HUGGINGFACE_TOKEN`.
    """
    for it in judged(spec):
        read = _READ_TOKENS.get(family_of(it.running.name), ())
        others = [name for name in _OTHER_TOKENS if name in it.placed.environment]
        if read and others and not it.placed.environment.keys() & {*read}:
            message = f"{it.title} does not read `{others[0]}`"
            yield Problem(it.path(others[0]), message, f"rename it to `{read[0]}`", of_key=True)


@warning("IS393", "user reports")
def name_on_the_hub_is_no_address(spec: ModelSpec) -> Iterator[Problem]:
    """A model on Hugging Face's hub should be named as the hub names it, and not by an address.

    No engine takes the address of the model's page, nor blanks around the name, and TGI and TEI none in S3:
    https://github.com/huggingface/text-generation-inference/issues/422
    """
    for it in judged(spec):
        for variable in (name for name in it.engine.model if name in it.environment):
            value = it.environment[variable]
            page, in_s3 = _PAGE.match(value.strip()), value.strip().startswith("s3://")
            if page is not None:
                message = f"{it.title} takes no address for `{variable}`, but the name of a model on the hub"
                yield Problem(it.path(variable), message, f"write `{page[1]}`")
            elif value != value.strip() and value.strip():
                message = f"`{variable}` has blanks around the name"
                yield Problem(it.path(variable), message, f"write `{value.strip()[:60]}`")
            elif in_s3 and it.running.name in _NEEDS_HUB_ID:
                message = f"{it.title} does not read models from S3: it looks for `{variable}` on the hub"
                fix = f"write `{_FOLDER}`, and the address as `{it.placed.files_key}`"
                yield Problem(it.path(variable), message, fix)


@warning("IS375", CONTAINER_PAGE)
def one_source_of_the_model(spec: ModelSpec) -> Iterator[Problem]:
    """A container should have one source of its model, which its engine reads.

    Of files and `HF_MODEL_ID`, vLLM serves the files, and rather than both what `SM_VLLM_MODEL` names. SGLang
    and llama.cpp do not read `HF_MODEL_ID` at all.
    """
    for it in judged(spec):
        value = it.environment.get(_OWN_HUB_ID)
        if value is None or value.startswith(_FOLDER):
            continue
        path, name = it.path(_OWN_HUB_ID), f"`{_OWN_HUB_ID}`"
        others = [other for other in it.engine.model if other in it.environment and other != _OWN_HUB_ID]
        if _OWN_HUB_ID not in it.engine.model:
            fix = f"write `{_HUB_IDS.get(it.running.name, it.engine.model[0])}`"
            yield Problem(path, f"{it.title} does not read {name}", fix, of_key=True)
        elif it.engine.files_first and others and it.environment[others[0]] != value:
            message = f"{it.title} serves what `{others[0]}` names, and ignores {name}"
            yield Problem(path, message, "remove one of the two", of_key=True)
        elif it.engine.files_first and has_files(it.placed.container) and setting(it.placed, "model") is None:
            message = f"{it.title} serves the container's files, and ignores {name}"
            yield Problem(path, message, "remove one of the two", of_key=True)


@warning("IS376", _S3)
def scaling_does_not_depend_on_the_hub(spec: ModelSpec) -> Iterator[Problem]:
    """An endpoint that scales should load its weights from S3, rather than from Hugging Face's hub.

    Each new copy downloads them again, and does not start while the hub is down or limits the rate, or if it
    has moved or gated the model. Without a revision, a new copy may get another model than the others have.
    """
    for it in judged(spec):
        said = _hub_id(it)
        if said is not None and any(True for _ in scaled_with(it.placed)):
            message = f"each new copy downloads {said[1][:60]} from Hugging Face's hub"
            revision = "" if setting(it.placed, "revision") is not None else ", at its newest revision"
            key = it.placed.files_key
            files = "the files" if key == "model_data_source" else "a tar.gz of the files"
            fix = f"put {files} into S3 and write `{key}`"
            yield Problem(it.path(said[0]), message + revision, fix)


def _hub_id(it: Judged) -> tuple[str, str] | None:
    if it.engine.files_first and has_files(it.placed.container):
        return None
    named = ((name, it.environment[name]) for name in it.engine.model if name in it.environment)
    found = next(named, None)
    return found if found is not None and _HUB_ID.fullmatch(found[1]) else None


@warning("IS377", _CONTRACT)
def engine_listens_where_sagemaker_asks(spec: ModelSpec) -> Iterator[Problem]:
    """An engine should listen on port 8080 of all addresses, where SageMaker asks `/ping`.

    AWS's images do so unless a variable says otherwise: then the endpoint never comes up.
    """
    for it in judged(spec):
        if family_of(it.running.name) not in ("vllm", "sglang"):
            continue
        for what, right in (("port", {_PORT}), ("host", _HOSTS)):
            said = setting(it.placed, what)
            if said is not None and said.value not in right:
                message = (
                    f"`{said.name}` is {said.value[:60]}, but SageMaker asks on port {_PORT} of all addresses"
                )
                yield Problem(said.path, message, "remove it", of_key=True)
