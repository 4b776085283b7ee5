"""``inferstack explain``: what a code, key, kind, metric or option means, and what there is about a word."""

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from inferstack.catalog import metrics
from inferstack.catalog.metrics import DIMENSION_NAMES, PREDEFINED_SCALING_METRICS, Metric
from inferstack.check.every_code import WRONG, every_code, examples
from inferstack.check.ignore import may_be_ignored
from inferstack.cli.engine_options import options_called, variables_like
from inferstack.cli.spec_keys import SpecKey, every_key, keys_called, keys_of
from inferstack.cli.terminal import Refusal, painted
from inferstack.diagnosis.signature import Signature, every_signature, filled
from inferstack.format.schema import kind_definitions
from inferstack.problems.codes import Code
from inferstack.problems.words import did_you_mean, listed
from inferstack.project.answers import sentence
from inferstack.source.spec_file import PROJECT_FILE

_WIDTH = 80
# In fewer columns, more lines would be broken inside words than between them.
_NARROWEST = 40
_INDENT = "  "
_ALL = "`inferstack explain` lists all codes"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack explain``."""
    what = (
        "code (IS012, gpu-memory), key (autoscaling.target_value), kind, metric, option or variable of an "
        "engine (max_model_len, with a version or without), or words; without it, list all codes"
    )
    command.add_argument("subject", metavar="SUBJECT", nargs="*", help=what)


def run(options: argparse.Namespace) -> int:
    """Explain a code of `validate` or `diagnose`, a key, a kind, a metric or an option of an engine; or list
    what there is about words. Without any, list all codes.
    """
    if not options.subject:
        _list_all()
        return 0
    subject = " ".join(options.subject)
    lines = next(filter(None, (find(subject) for find in _FINDERS)), None)
    if lines is None:
        names = [
            *kind_definitions(),
            *(key.name for key in every_key()),
            *_metric_names(),
            *every_signature(),
            *variables_like(subject),
        ]
        meant = did_you_mean(subject, names) if len(subject) >= _SHORTEST else ""
        raise Refusal(f"nothing is known about {subject}; {meant or _ALL}")
    print(*lines, sep="\n")
    return 0


def _wrapped(text: str, before: str = "") -> str:
    """The text wrapped to the terminal's width; its further lines are indented by the width of ``before``."""
    return textwrap.fill(
        text,
        _columns(),
        initial_indent=before,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _columns() -> int:
    return max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 0)).columns)


def _place(path: str, beside: int = 0) -> str:
    """The end of a path, by which the key is found too, if the path and what is ``beside`` it do not fit."""
    parts = path.split(".")
    ends = (".".join(("…", *parts[start:])) for start in range(1, len(parts)))
    return next((it for it in (path, *ends) if len(it) + beside <= _columns()), path)


def _title(text: str) -> str:
    return painted(text, "bold", sys.stdout)


# ---------------------------------------------------------------- codes

_LOOK_LIKE_DIGITS = str.maketrans("OIL", "011")
_MOST_DIGITS = 4
_OF_FILES = "IS0"
_COLORS = {"wrong": "red", "right": "green"}


def _list_all() -> None:
    for it in every_code().values():
        code = f"{it.code} {it.severity:7} "
        # One line per code for programs that read it, such as grep.
        print(_wrapped(it.sentence, code) if sys.stdout.isatty() else f"{code}{it.sentence}")
    for name, (first, *_) in every_signature().items():
        code, cause = f"{name} {first.verdict} ", _cause(first)
        print(_wrapped(cause, code) if sys.stdout.isatty() else f"{code}{cause}")


def _of_code(subject: str) -> list[str]:
    """The lines about a code; none for what is no code and does not look like one."""
    code = subject.upper()
    if code in every_code():
        return [*_about(every_code()[code]), *_example(code)]
    if re.fullmatch("(IS)?[-_ ]?[0-9OIL]+", code) and re.search("[0-9]", code):
        close = _probably_meant(code)
        hint = f"did you mean {listed(close, quote='')}?" if close else _ALL
        raise Refusal(f"there is no code {subject}; {hint}")
    return []


def _about(entry: Code) -> Iterator[str]:
    yield _title(f"{entry.code} ({entry.severity})")
    yield _wrapped(entry.sentence)
    yield f"Source: {entry.source}"
    if may_be_ignored(entry.code):
        yield f"If it does not apply to a spec, say so there: ignore: [{{code: {entry.code}, reason: …}}]"


def _example(code: str) -> Iterator[str]:
    example = examples().get(code)
    if example is not None:
        yield from ("", _wrapped(f"For example, {example.title}:"), "")
        for line in example.shown():
            yield painted(line, _COLORS[line[:5]], sys.stdout) if line[:5] in _COLORS else line


def _probably_meant(code: str) -> list[str]:
    """Codes that this may be a typo for. A number that is only close to a code's is not a typo."""
    digits = re.sub("[^0-9]", "", code.removeprefix("IS").translate(_LOOK_LIKE_DIGITS))
    if not 0 < len(digits) <= _MOST_DIGITS:
        return []
    written = f"IS{digits:0>3}"
    return [written] if written in every_code() else sorted({*_slips(digits)} & every_code().keys())


def _slips(digits: str) -> Iterator[str]:
    """The codes with two neighbouring digits swapped, or with only one of two that are the same."""
    for at, (left, right) in enumerate(pairwise(digits)):
        once = left if left == right else f"{right}{left}"
        yield f"IS{digits[:at]}{once}{digits[at + 2 :]}"


def _codes_about(name: str) -> Iterator[str]:
    """The codes whose sentence names a key or a metric, or whose example is wrong there and nowhere else; not
    those of YAML itself, of which any key may be an example.
    """
    key = re.compile(rf".*\b{re.escape(name)}:")
    for code, entry in every_code().items():
        lines = examples()[code].lines if code in examples() else ()
        wrong = [line for line in lines if line[0] == WRONG]
        shown = len(wrong) == 1 and key.match(wrong[0]) and not code.startswith(_OF_FILES)
        if shown or f"`{name}`" in entry.sentence:
            yield code


def _see_codes(name: str) -> Iterator[str]:
    if codes := list(_codes_about(name)):
        yield _wrapped(f"Codes: {listed(codes, last='and', quote='')}")


# ---------------------------------------------------------------- what a path of keys means

_MOST_IN_FULL = 3


def _of_key(subject: str) -> list[str]:
    """The lines about the keys that a path may mean."""
    keys = keys_called(subject)
    if len(keys) > _MOST_IN_FULL:
        several = _wrapped(f"{len(keys)} blocks have a key of this name; name one by its path:")
        return [several, "", *(_in_brief(key.places[0], key.text) for key in keys)]
    lines = [line for key in keys for line in ("", *_key(key))][1:]
    return [*lines, *_see_also(subject)] if lines else []


def _key(key: SpecKey) -> Iterator[str]:
    title = f"{key.places[0]} ({key.form})"
    fits = len(title) <= _columns()
    yield from [_title(title)] if fits else [_title(_place(key.places[0])), f"({key.form})"]
    yield _wrapped(key.text)
    yield from map(_wrapped, key.limits())
    yield from (_wrapped(f"{called}: {', '.join(keys)}") for called, keys in key.contents())
    if len(key.kinds) < len(kind_definitions()):
        of = [it if it == PROJECT_FILE else f"kind: {it}" for it in key.kinds]
        yield _wrapped(f"Only for: {listed(of, last='and')}")
    if also := key.places[1:]:
        yield _wrapped(f"Also as: {listed([_place(it, 1) for it in also], last='and', quote='')}")
    yield from _see_codes(key.name)


def _see_also(subject: str) -> Iterator[str]:
    """Other keys whose name has this word, if it is one."""
    names = dict.fromkeys(it.name for it in every_key() if f"_{subject}_" in f"_{it.name}_" != f"_{subject}_")
    if names:
        yield _wrapped(f"See also: {listed(list(names), last='and', quote='')}")


# ---------------------------------------------------------------- kinds


def _of_kind(subject: str) -> list[str]:
    """The lines about a kind of spec, and what else there is about the word."""
    kind = subject.lower()
    if kind not in kind_definitions():
        return []
    lines = [
        _title(f"{kind} (kind)"),
        _wrapped(sentence(kind)),
        _wrapped(f"Keys: {', '.join(keys_of(kind_definitions()[kind]))}"),
        _wrapped(f"`inferstack init DIR --kind {kind}` writes a spec to start from."),
    ]
    others = _of_word(subject)
    return [*lines, "", *others] if others else lines


# ---------------------------------------------------------------- metrics

_DEVICES = {"gpu": "GPUs", "vcpu": "vCPUs"}


def _metric_names() -> tuple[str, ...]:
    return (*metrics.names(), *(it.name for it in PREDEFINED_SCALING_METRICS))


def _of_metric(subject: str) -> list[str]:
    """The lines about a metric, which may be written in small letters."""
    name = next((it for it in _metric_names() if it.lower() == subject.lower()), "")
    predefined = metrics.find_predefined(name)
    lines = [line for metric in metrics.find(name) for line in ("", *_metric(metric))][1:]
    if predefined is not None:
        lines = [
            _title(f"{name} (predefined for target tracking)"),
            _wrapped(predefined.description),
            _wrapped(f"Follows: {predefined.metric}"),
            _wrapped(f"Scales: {predefined.scalable_dimension}"),
        ]
    return [*lines, *_see_codes(name)] if lines else []


def _metric(metric: Metric) -> Iterator[str]:
    of_devices = f", a sum over an instance's {_DEVICES[metric.per_device]}" if metric.per_device else ""
    yield _title(f"{metric.name} (metric)")
    yield _wrapped(metric.description)
    yield _wrapped(f"Unit: {metric.unit}{of_devices}. Usual statistic: {metric.statistic}.")
    yield _wrapped(f"Published by endpoints with: {', '.join(sorted(metric.hostings))}")
    yield _wrapped(f"In CloudWatch: {metric.namespace}, by {', '.join(DIMENSION_NAMES[metric.dimensions])}")


# ---------------------------------------------------------------- what diagnose finds


def _of_signature(subject: str) -> list[str]:
    """The lines about a code of `diagnose`, and what else there is about the word."""
    code = subject.lower()
    found = every_signature().get(code, [])
    lines = [line for it in found for line in ("", *_signature(it))][1:]
    others = _of_word(subject) if lines else []
    return [*lines, "", *others] if others else lines


def _signature(it: Signature) -> Iterator[str]:
    yield _title(f"{it.code} (diagnose: {it.verdict})")
    yield _wrapped(_cause(it))
    if it.fix:
        yield _wrapped(f"Fix: {filled(it.fix, {})}.")
    if it.verdict == "cause":
        yield _wrapped(f"Certainty: {_certainty(it)}.")
    yield f"Source: {it.source}"


def _certainty(it: Signature) -> str:
    if it.certain:
        return "the line leaves no doubt"
    agreeing = f"if {listed(list(it.rules), quote='')} of `validate` agrees"
    if not it.alone:
        return f"counts only {agreeing}"
    return f"likely; certain {agreeing}" if it.rules else "likely"


def _cause(it: Signature) -> str:
    """What the code means as a sentence, with … for the words that a line has there."""
    cause = filled(it.cause, {})
    return f"{cause[:1].upper()}{cause[1:]}."


# ---------------------------------------------------------------- options of engines


def _of_option(subject: str) -> list[str]:
    """The lines about an option of an engine, by its name or its variable's."""
    found = options_called(subject)
    return [line for it in found for line in ("", _title(it.title), *map(_wrapped, it.lines))][1:]


# ---------------------------------------------------------------- words

_SHORTEST = 3
_MOST = 8


def _of_word(subject: str) -> list[str]:
    """Keys, metrics and codes whose name or text has words that begin like these."""
    words = [word for word in subject.split() if len(word) >= _SHORTEST]
    if not words:
        return []
    of_metrics = {name: metrics.find(name)[0].description for name in metrics.names()}
    hits_by_title = {
        "Keys": _hits(words, (_Entry(it.places[0], it.text, it.name) for it in every_key())),
        "Metrics": _hits(words, (_Entry(name, text, name) for name, text in of_metrics.items())),
        "Codes": _hits(words, (_Entry(it.code, it.sentence) for it in every_code().values())),
        "Diagnoses": _hits(words, _diagnoses(subject)),
    }
    lines = [line for title, hits in hits_by_title.items() if hits for line in ("", *_group(title, hits))][1:]
    return [*lines, "", _wrapped("`inferstack explain NAME` says more about one of them.")] if lines else []


def _diagnoses(subject: str) -> Iterator["_Entry"]:
    """What `diagnose` finds, apart from the subject itself."""
    first = {code: of_code[0] for code, of_code in every_signature().items() if code != subject.lower()}
    return (_Entry(code, _cause(it)) for code, it in first.items())


class _Entry(NamedTuple):
    """What there is an explanation of: how it is shown, what is said about it, and its own name, if any."""

    title: str
    text: str
    name: str = ""


def _hits(words: Sequence[str], entries: Iterable[_Entry]) -> list[tuple[str, str]]:
    """The entries about all of the words, with their texts: first those that have them in their name."""
    # Names in texts consist of words, too: `scale_in_cooldown`.
    begun = [re.compile(rf"(?<![a-z]){re.escape(word.lower())}") for word in words]
    by_name, by_text = list[tuple[str, str]](), list[tuple[str, str]]()
    for title, text, name in entries:
        if all(word.lower() in name.lower() for word in words):
            by_name.append((title, text))
        elif all(word.search(text.lower()) for word in begun):
            by_text.append((title, text))
    return list(dict.fromkeys([*by_name, *by_text]))


def _group(title: str, hits: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield _title(title)
    yield from (_in_brief(name, text) for name, text in hits[:_MOST])
    if len(hits) > _MOST:
        yield f"{_INDENT}… and {len(hits) - _MOST} more"


def _in_brief(name: str, text: str) -> str:
    """A name, and below it the first sentence about it."""
    sentence = text.split(". ", maxsplit=1)[0].rstrip(".")
    return f"{_INDENT}{_place(name, len(_INDENT))}\n{_wrapped(f'{sentence}.', _INDENT * 3)}"


_FINDERS: tuple[Callable[[str], list[str]], ...] = (
    _of_code,
    _of_metric,
    _of_kind,
    _of_key,
    _of_signature,
    _of_option,
    _of_word,
)
