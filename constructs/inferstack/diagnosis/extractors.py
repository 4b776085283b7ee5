"""What takes more than one pattern: the exception of a traceback, Triton's table of models, settings and
arguments that are refused, and AWS's words inside the frame that CloudFormation puts around them.

Each fills in a signature of ``signatures/extracted.toml``, so that all findings are treated alike.
"""

import re

import msgspec

from inferstack.diagnosis.signature import Finding, known

# ---------------------------------------------------------------- Python's tracebacks

_EXCEPTION = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w*\.)*(?:[A-Za-z_]\w*)?(?:Error|Exception|Exit|Timeout|NotFound|Killed))(?::\s*(?P<said>.*))?$"
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
_MARKS = re.compile(r"^[\s^~│|]*$")
# Where exceptions mean the same, whatever they say: a part of the last frame's path.
_PLACES = {
    "pickle.py,": "pickle-version",
    "/sentencepiece/": "no-tokenizer",
    "/transformers/models/auto/configuration_auto.py,": "architecture-not-known",
    **{
        f"/{it}/": "exception-of-client"
        for it in ("aiohttp", "botocore", "grpc", "httpx", "requests", "urllib3")
    },
}
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
# What reading a pickle raises about the file as such, and not about what is in it.
_OF_FILES = re.compile(
    r"(?:^|\.)(?:FileNotFoundError|OSError|PermissionError|MemoryError|EOFError|UnpicklingError)$"
)


class Traceback:
    """Follows a traceback through the lines of a log."""

    def __init__(self) -> None:
        self._is_in, self._source_follows = False, False
        self._frame, self._indent = "", ""
        self.chain = 0
        """Counts tracebacks. One that continues another has its number."""
        self._is_chained = False

    def inside(self, text: str) -> bool:
        """Whether a line is code or a place, which mean nothing by themselves."""
        if "Traceback (most recent call last)" in text:
            self._is_in, self._source_follows, self._frame = True, False, ""
            self.chain += not self._is_chained
            self._is_chained = False
            self._indent = text[: len(text) - len(text.lstrip())]
            return True
        self._is_chained = self._is_chained or any(it in text for it in _CHAINED)
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

    def exception(self, text: str) -> Finding | None:
        """The finding for a line that ends a traceback."""
        found = _EXCEPTION.match(text.strip()) if self._is_in else None
        if found is None:
            return None
        self._is_in = False
        at = f" at {self._frame}" if self._frame else ""
        code = next((code for part, code in _PLACES.items() if part in at), "exception")
        if _OF_FILES.search(found["name"]) is not None:
            code = "exception"
        return known().extracted[code], {"raised": found["name"] + at}

    def bare(self, text: str) -> Finding | None:
        """The finding for an exception without a traceback: its program may have gone on."""
        found = None if self._is_in else _EXCEPTION.match(text)
        return (known().extracted["exception-alone"], found.groupdict()) if found and found["said"] else None


# ---------------------------------------------------------------- Triton's table

_ROW = re.compile(r"^\s*\|\s*(?P<model>[^|]*?)\s*\|\s*(?P<version>[^|]*?)\s*\|\s*(?P<status>.*?)\s*\|?\s*$")


class TritonTable:
    """Reads the table that Triton prints once it has tried all models: a reason may take several lines."""

    def __init__(self) -> None:
        self._model = ""
        self._status: list[str] = []

    def complete(self, text: str) -> tuple[str, Finding] | None:
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

    def _ended(self) -> tuple[str, Finding]:
        reason = " ".join(self._status)
        said = reason.removeprefix("UNAVAILABLE").lstrip(": ")
        signature = known().extracted["triton-model" if said else "triton-model-unavailable"]
        return reason, (signature, {"model": self._model, "said": said})


# ---------------------------------------------------------------- pydantic's reasons

_SETTINGS = re.compile(r"\d+ validation errors? for (?P<what>\w+)")
_REASON = re.compile(r"^\s+(?:Value error, )?(?P<said>\S.*?)(?: \[type=\w+, .*)?$")


class RefusedSettings:
    """Reads why pydantic refuses settings, which is below the exception; requests it refuses likewise."""

    def __init__(self) -> None:
        self._what = ""

    def finding(self, text: str) -> Finding | None:
        """The finding for a line with a reason."""
        if (settings := _SETTINGS.search(text)) is not None:
            is_of_start = settings["what"].endswith(("Config", "Args", "Settings", "Properties"))
            self._what = settings["what"] if is_of_start else ""
            return None
        is_reason = text.lstrip().startswith("Value error, ") or " [type=" in text
        found = _REASON.match(text) if self._what and is_reason else None
        return (
            (known().extracted["config-refused"], {"what": self._what, **found.groupdict()})
            if found
            else None
        )


# ---------------------------------------------------------------- refused arguments

_ARGPARSE = "https://docs.python.org/3/library/argparse.html"
_CLAP = "https://docs.rs/clap/latest/clap/error/enum.ErrorKind.html"
_LLAMA_CPP = "https://github.com/ggml-org/llama.cpp/blob/master/common/arg.cpp"
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_REFUSED = (
    (r"error: unrecognized arguments: (?P<what>.+)", "unknown-argument", _ARGPARSE),
    (r"error: unexpected argument '(?P<what>--[^']+)' found", "unknown-argument", _CLAP),
    (r"error: invalid argument: (?P<what>.+)", "unknown-argument", _LLAMA_CPP),
    (r"error: argument (?P<what>-[^:]+: .+)", "wrong-argument", _ARGPARSE),
    (r"error: (?P<what>invalid value '[^']*' for '[^']+'.*)", "wrong-argument", _CLAP),
    (r"error: the following arguments are required: (?P<what>.+)", "missing-argument", _ARGPARSE),
)
_VARIABLES = ("SM_VLLM_{}", "SM_SGLANG_{}", "SM_LLAMA_CPP_{}", "{}")


def refused_argument(text: str) -> Finding | None:
    """The finding for a line in which a parser of arguments gives up."""
    for pattern, code, source in _REFUSED:
        if (found := re.search(pattern, text)) is not None:
            what = found["what"].strip()
            options = [it.lstrip("-").upper().replace("-", "_") for it in _OPTION.findall(what)]
            keys = tuple(form.format(it) for it in options for form in _VARIABLES)
            signature = msgspec.structs.replace(known().extracted[code], source=source, keys=keys)
            return signature, {"what": what, "variable": _variable(options)}
    return None


def _variable(options: list[str]) -> str:
    if options:
        return f"the variable that sets it (in vLLM's image SM_VLLM_{options[0]})"
    return "the variable that passes it: in some versions, a flag takes no value, not even `true`"


# ---------------------------------------------------------------- AWS's words without CloudFormation's frame

_HANDLER = re.compile(
    r'Resource handler returned message: "(?P<said>.*)" \(RequestToken: [^)]*HandlerErrorCode: (?P<code>\w+)'
)
_SERVICE = re.compile(r"\s*\(Service: [^)]*\)(?: \(SDK Attempt Count: \d+\))?")
_ERROR_CODE = re.compile(r"Error Code: (?P<code>\w+)")
_CALLED = re.compile(
    r"An error occurred \((?P<code>\w+)\) when calling the \w+ operation(?: \([^)]*\))?: (?P<said>.+)"
)
_API = re.compile(r"api error (?P<code>\w+): (?P<said>.+)")
_HOSTING = re.compile(r"Error hosting (?:endpoint|model) \S+: (?P<code>Failed)\. Reason:\s+(?P<said>.+)")
_REFUSALS = frozenset(
    {
        *("ValidationException", "ValidationError", "InvalidRequest", "InvalidParameterValue"),
        *("AccessDenied", "AccessDeniedException", "AlreadyExists", "ResourceInUse", "NotFound", "Failed"),
    }
)


def aws_reason(text: str) -> tuple[str, str] | None:
    """AWS's own words in a line, and the code of its error; None if the line has no frame of AWS's."""
    if (found := _HANDLER.search(text)) is not None:
        code = _ERROR_CODE.search(found["said"])
        return _SERVICE.sub("", found["said"]), code["code"] if code else found["code"]
    for pattern in (_CALLED, _API, _HOSTING):
        if (found := pattern.search(text)) is not None:
            return found["said"], found["code"]
    if (found := _ERROR_CODE.search(text)) is not None:
        return _SERVICE.sub("", text), found["code"]
    return None


def refused_by_aws(said: str, code: str) -> Finding | None:
    """The finding for a refusal that no signature knows: AWS's words are the cause."""
    if code not in _REFUSALS or len(said) < len("a sentence of some words"):
        return None
    return known().extracted["refused"], {"said": said}
