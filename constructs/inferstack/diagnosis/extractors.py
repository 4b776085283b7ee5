"""What takes more than one pattern: the exception of a traceback, Triton's table of models, arguments that a
parser refuses, and AWS's words inside the frame that CloudFormation puts around them.

Each makes signatures of its own, so that whatever follows treats all findings alike.
"""

import re

from inferstack.diagnosis.signature import Signature

# ---------------------------------------------------------------- Python's tracebacks

_PYTHON = "https://docs.python.org/3/library/traceback.html"
_EXCEPTION = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Exit|Timeout|NotFound|Killed))(?::\s*(?P<said>.*))?$"
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
_MARKS = re.compile(r"^[\s^~│|]*$")


class Traceback:
    """Follows a traceback through the lines of a log."""

    def __init__(self) -> None:
        self._is_in, self._source_follows = False, False
        self._frame = ""

    def inside(self, text: str) -> bool:
        """Whether a line is code or a place, which mean nothing by themselves."""
        if "Traceback (most recent call last)" in text:
            self._is_in, self._source_follows, self._frame = True, False, ""
            return True
        if (frame := _FRAME.match(text)) is not None:
            self._is_in, self._source_follows = True, True
            self._frame = f"{frame['file']}, line {frame['line']}"
            return True
        if not self._is_in:
            return False
        if self._source_follows or _MARKS.match(text) or text.lstrip().startswith("raise "):
            self._source_follows = False
            return _EXCEPTION.match(text) is None
        return text.startswith(("  ", "│"))

    def exception(self, text: str) -> Signature | None:
        """The finding for a line that ends a traceback."""
        found = _EXCEPTION.match(text.strip()) if self._is_in else None
        if found is None:
            return None
        self._is_in = False
        at = f" at {self._frame}" if self._frame else ""
        return Signature(
            code="exception",
            pattern="",
            where="log",
            cause=f"the container's Python code raised {_braced(found['name'])}{_braced(at)}",
            fix="read the traceback that ends with this line; `inferstack rehearse` or the image with Docker repeat it",
            source=_PYTHON,
            rank=2,
        )


def _braced(text: str) -> str:
    """The text, so that filling in groups leaves it as it is."""
    return text.replace("{", "{{").replace("}", "}}")


# ---------------------------------------------------------------- Triton's table

_TRITON = "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_repository.html"
_ROW = re.compile(r"^\s*\|\s*(?P<model>[^|]*?)\s*\|\s*(?P<version>[^|]*?)\s*\|\s*(?P<status>.*?)\s*\|?\s*$")


class TritonTable:
    """Reads the table that Triton prints once it has tried all models, in which a reason takes several lines."""

    def __init__(self) -> None:
        self._model = ""
        self._status: list[str] = []

    def row(self, text: str) -> bool:
        """Whether a line is a row of it."""
        found = _ROW.match(text)
        if found is None:
            return False
        if found["model"] and "UNAVAILABLE" in found["status"] and not self._model:
            self._model, self._status = found["model"], [found["status"]]
        elif self._model and not found["model"] and not found["version"]:
            self._status.append(found["status"])
        elif self._model and found["model"]:
            # The reason of the first model is complete.
            return self.is_open
        return self.is_open

    @property
    def is_open(self) -> bool:
        """Whether a model that was not loaded has been read."""
        return bool(self._model)

    def ended(self) -> tuple[str, Signature] | None:
        """The whole reason, and the finding, of the first model that was not loaded."""
        if not self._model:
            return None
        model, reason = self._model, " ".join(self._status)
        self._model = ""
        said = reason.removeprefix("UNAVAILABLE").lstrip(": ")
        return reason, Signature(
            code="triton-model",
            pattern="",
            where="log",
            cause=f"Triton could not load model `{_braced(model)}`: {_braced(said) or 'it is unavailable'}",
            fix="correct what it names: `inferstack validate` and `inferstack rehearse` check a repository without AWS",
            source=_TRITON,
            needs="triton",
            keys=(model, "triton", "model_data_url"),
            certain=bool(said),
            rank=1 if said else 2,
        )


# ---------------------------------------------------------------- refused arguments

_ARGPARSE = "https://docs.python.org/3/library/argparse.html"
_CLAP = "https://docs.rs/clap/latest/clap/error/enum.ErrorKind.html"
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_REFUSED = (
    (re.compile(r"error: unrecognized arguments: (?P<what>.+)"), "unknown-argument", "does not know", _ARGPARSE),
    (re.compile(r"error: unexpected argument '(?P<what>--[^']+)' found"), "unknown-argument", "does not know", _CLAP),
    (re.compile(r"error: argument (?P<what>-[^:]+: .+)"), "wrong-argument", "refuses", _ARGPARSE),
    (re.compile(r"error: (?P<what>invalid value '[^']*' for '[^']+'.*)"), "wrong-argument", "refuses", _CLAP),
    (re.compile(r"error: the following arguments are required: (?P<what>.+)"), "missing-argument", "misses", _ARGPARSE),
)  # fmt: skip
_VARIABLES = ("SM_VLLM_{}", "SM_SGLANG_{}", "SM_LLAMA_CPP_{}", "{}")
_OF_ARGUMENTS = ("IS340", "IS341", "IS342", "IS343", "IS344")


def refused_argument(text: str) -> Signature | None:
    """The finding for a line in which a parser of arguments gives up."""
    for pattern, code, verb, source in _REFUSED:
        if (found := pattern.search(text)) is not None:
            what = found["what"].strip()
            options = [it.lstrip("-").upper().replace("-", "_") for it in _OPTION.findall(what)]
            return Signature(
                code=code,
                pattern="",
                where="log",
                cause=f"the server {verb} {_braced(what)}",
                fix=_fix_of(code, options),
                source=source,
                keys=tuple(form.format(it) for it in options for form in _VARIABLES),
                rules=_OF_ARGUMENTS,
                certain=True,
            )
    return None


def _fix_of(code: str, options: list[str]) -> str:
    if code == "missing-argument":
        return "set the variable of the engine that names the model, or the option"
    if not options:
        return (
            "a flag takes no value in this image: leave the variable out, or take an image that knows `true`"
        )
    variable = f"SM_VLLM_{options[0]}"
    return f"correct or remove the variable that sets it (in vLLM's image {variable}): `inferstack validate` knows the options of each version"


# ---------------------------------------------------------------- AWS's words without CloudFormation's frame

_ERRORS = (
    "https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html"
)
_HANDLER = re.compile(
    r'Resource handler returned message: "(?P<said>.*)" \(RequestToken: [^)]*HandlerErrorCode: (?P<code>\w+)\)'
)
_SERVICE = re.compile(r"\s*\(Service: [^)]*\)(?: \(SDK Attempt Count: \d+\))?")
_ERROR_CODE = re.compile(r"Error Code: (?P<code>\w+)")
_CALLED = re.compile(
    r"An error occurred \((?P<code>\w+)\) when calling the \w+ operation(?: \([^)]*\))?: (?P<said>.+)"
)
_API = re.compile(r"api error (?P<code>\w+): (?P<said>.+)")
_REFUSALS = {
    "ValidationException",
    "ValidationError",
    "InvalidRequest",
    "AccessDenied",
    "AccessDeniedException",
    "AlreadyExists",
    "ResourceInUse",
    "InvalidParameterValue",
}


def aws_reason(text: str) -> tuple[str, str] | None:
    """AWS's own words in a line, and the code of its error; None if the line has no frame of AWS's."""
    if (found := _HANDLER.search(text)) is not None:
        code = _ERROR_CODE.search(found["said"])
        return _SERVICE.sub("", found["said"]), code["code"] if code else found["code"]
    for pattern in (_CALLED, _API):
        if (found := pattern.search(text)) is not None:
            return found["said"], found["code"]
    if (found := _ERROR_CODE.search(text)) is not None:
        return _SERVICE.sub("", text), found["code"]
    return None


def refused_by_aws(said: str, code: str) -> Signature | None:
    """The finding for a refusal that no signature knows: AWS's words are the cause."""
    if code not in _REFUSALS or len(said) < len("a sentence of some words"):
        return None
    return Signature(
        code="refused",
        pattern="",
        where="reason",
        cause=f"AWS refuses it: {_braced(said)}",
        fix="correct what the sentence names",
        source=_ERRORS,
        certain=True,
        rank=2,
    )
