"""What takes more than one pattern: the exception of a traceback, Triton's table of models, arguments that a
parser refuses, and AWS's words inside the frame that CloudFormation puts around them.

Each makes signatures of its own, so that whatever follows treats all findings alike.
"""

import re

from inferstack.diagnosis.signature import Signature

# ---------------------------------------------------------------- Python's tracebacks

_PYTHON = "https://docs.python.org/3/library/traceback.html"
_PICKLE = "https://docs.python.org/3/library/pickle.html"
_EXCEPTION = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Exit|Timeout|NotFound|Killed))(?::\s*(?P<said>.*))?$"
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
_MARKS = re.compile(r"^[\s^~│|]*$")


class Traceback:
    """Follows a traceback through the lines of a log."""

    def __init__(self) -> None:
        self._is_in, self._source_follows = False, False
        self._frame, self._indent = "", ""

    def inside(self, text: str) -> bool:
        """Whether a line is code or a place, which mean nothing by themselves."""
        if "Traceback (most recent call last)" in text:
            self._is_in, self._source_follows, self._frame = True, False, ""
            self._indent = text[: len(text) - len(text.lstrip())]
            return True
        text = text.removeprefix(self._indent)
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
        raised = f"raised {_braced(found['name'])}{_braced(at)}"
        if "pickle.py," in at:
            return Signature(
                code="pickle-version",
                pattern="",
                where="log",
                cause=f"a pickled file cannot be read: Python {raised}",
                fix="write the file again with the versions of Python and its libraries that the image has",
                source=_PICKLE,
                keys=("version", "image"),
                rank=2,
            )
        return Signature(
            code="exception",
            pattern="",
            where="log",
            cause=f"the container's Python code {raised}",
            fix="read the traceback that ends with this line; the image repeats it in Docker",
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
    """Reads the table that Triton prints once it has tried all models: a reason may take several lines."""

    def __init__(self) -> None:
        self._model = ""
        self._status: list[str] = []

    def complete(self, text: str) -> tuple[str, Signature] | None:
        """The whole reason why a model was not loaded, and the finding, once the line after it is read."""
        row = _ROW.match(text)
        if self._model and row is not None and not row["model"] and not row["version"]:
            self._status.append(row["status"])
            return None
        ended = self._ended() if self._model else None
        is_unavailable = row is not None and row["status"].startswith("UNAVAILABLE")
        self._model = row["model"] if row is not None and is_unavailable else ""
        self._status = [row["status"]] if row is not None else []
        return ended

    def _ended(self) -> tuple[str, Signature]:
        reason = " ".join(self._status)
        said = reason.removeprefix("UNAVAILABLE").lstrip(": ")
        model, what = _braced(self._model), _braced(said) or "it is unavailable"
        return reason, Signature(
            code="triton-model",
            pattern="",
            where="log",
            cause=f"Triton could not load model `{model}`: {what}",
            fix="correct what it names: `inferstack validate` and `inferstack rehearse` check it without AWS",
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
_UNKNOWN, _WRONG, _MISSING = "unknown-argument", "wrong-argument", "missing-argument"
_VERBS = {_UNKNOWN: "does not know", _WRONG: "refuses", _MISSING: "misses"}
_REFUSED = (
    (r"error: unrecognized arguments: (?P<what>.+)", _UNKNOWN, _ARGPARSE),
    (r"error: unexpected argument '(?P<what>--[^']+)' found", _UNKNOWN, _CLAP),
    (r"error: argument (?P<what>-[^:]+: .+)", _WRONG, _ARGPARSE),
    (r"error: (?P<what>invalid value '[^']*' for '[^']+'.*)", _WRONG, _CLAP),
    (r"error: the following arguments are required: (?P<what>.+)", _MISSING, _ARGPARSE),
)
_VARIABLES = ("SM_VLLM_{}", "SM_SGLANG_{}", "SM_LLAMA_CPP_{}", "{}")
_OF_ARGUMENTS = ("IS340", "IS341", "IS342", "IS343", "IS344")


def refused_argument(text: str) -> Signature | None:
    """The finding for a line in which a parser of arguments gives up."""
    for pattern, code, source in _REFUSED:
        if (found := re.search(pattern, text)) is not None:
            what = found["what"].strip()
            options = [it.lstrip("-").upper().replace("-", "_") for it in _OPTION.findall(what)]
            return Signature(
                code=code,
                pattern="",
                where="log",
                cause=f"the server {_VERBS[code]} {_braced(what)}",
                fix=_fix_of(code, options),
                source=source,
                keys=tuple(form.format(it) for it in options for form in _VARIABLES),
                rules=_OF_ARGUMENTS,
                certain=True,
            )
    return None


def _fix_of(code: str, options: list[str]) -> str:
    if code == _MISSING:
        return "set the variable of the engine that names the model, or the option"
    if not options:
        return (
            "a flag takes no value in this image: leave the variable out, or take an image that knows `true`"
        )
    variable = f"SM_VLLM_{options[0]}"
    known = "`inferstack validate` knows the options of each version"
    return f"correct or remove the variable that sets it (in vLLM's image {variable}): {known}"


# ---------------------------------------------------------------- AWS's words without CloudFormation's frame

_ERRORS = (
    "https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html"
)
_HANDLER = re.compile(
    r'Resource handler returned message: "(?P<said>.*)" \(RequestToken: [^)]*HandlerErrorCode: (?P<code>\w+)'
)
_SERVICE = re.compile(r"\s*\(Service: [^)]*\)(?: \(SDK Attempt Count: \d+\))?")
_ERROR_CODE = re.compile(r"Error Code: (?P<code>\w+)")
_CALLED = re.compile(
    r"An error occurred \((?P<code>\w+)\) when calling the \w+ operation(?: \([^)]*\))?: (?P<said>.+)"
)
_API = re.compile(r"api error (?P<code>\w+): (?P<said>.+)")
_REFUSALS = frozenset(
    {
        *("ValidationException", "ValidationError", "InvalidRequest", "InvalidParameterValue"),
        *("AccessDenied", "AccessDeniedException", "AlreadyExists", "ResourceInUse"),
    }
)


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
