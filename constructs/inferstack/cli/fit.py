"""``inferstack fit``: which instance types hold a language model, and how many requests fit beside it."""

import argparse
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.catalog import images, instances
from inferstack.check.load import load_unruled
from inferstack.check.model_files import described_models
from inferstack.check.rules.language_models.memory import planned_tokens
from inferstack.check.rules.language_models.model_files import Described
from inferstack.cli.arguments import add_region, whole_number
from inferstack.cli.choice import load_to_look_at
from inferstack.cli.editing import edit_spec
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.endpoint.cost import Prices, exact_text
from inferstack.engines.architectures import newest_version
from inferstack.engines.engine import ENGINES
from inferstack.engines.fit import UNDIVIDED, Fit, Wanted, fits, ranked, with_logged_cache
from inferstack.engines.kv_cache import Served, Unknown, token_bytes
from inferstack.engines.memory import GIB, Band, overhead
from inferstack.engines.model_config import LanguageModel, read_model
from inferstack.engines.settings import sequences
from inferstack.engines.start import DOWNLOAD, HEALTH_CHECK, minutes_to_read, start_timeout
from inferstack.engines.tables import numbers
from inferstack.facts.walk import PlacedContainer, region_of, runs_of
from inferstack.problems import SpecPath, dotted, printable
from inferstack.problems.words import choose
from inferstack.sizing.fit_into_spec import changes_for_fit, only_type, planned
from inferstack.sizing.into_spec import NotWritableError
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, prices_for

_HEADER = ("INSTANCE TYPE", "GPUS", "WEIGHTS", "KV CACHE", "TOKENS", "REQUESTS", "PER HOUR")
_VERDICTS = {"yes": "hold it:", "perhaps": "perhaps hold it:"}
_WIDTH = 80
_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4})+(rc[0-9]+)?")


class _AskedModel(msgspec.Struct, frozen=True):
    """A model, and how it is served; ``placed`` is the container of the spec that serves it, if one does.

    ``is_known`` says whether that is how the container serves it, or how vLLM does with its defaults;
    ``longest`` is the longest sequence that the spec has it serve, if it says that.
    """

    name: str
    model: LanguageModel
    serving: Served
    placed: PlacedContainer | None = None
    is_known: bool = True
    longest: int | None = None
    context: int | None = None
    """The tokens of a request that are planned with."""

    def runs_on(self, fit: Fit) -> bool:
        """Whether the spec has it on this instance type."""
        return self.placed is not None and fit.host.name in self.placed.instance_types


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("spec", type=Path, nargs="?", metavar="SPEC", help="a spec with a `model_config`")
    described = "a model's config.json, or the folder with it; instead of a spec, or of what it names"
    parser.add_argument("--model-config", type=Path, metavar="PATH", help=described)
    types = "only this instance type; may be repeated"
    parser.add_argument("--instance-type", type=_gpu_type, metavar="TYPE", action="append", help=types)
    tokens = "tokens of a request with its answer (default: the objective's, or the longest that is served)"
    parser.add_argument("--context", type=whole_number, metavar="N", help=tokens)
    at_once = "requests at once that a copy has to hold (1)"
    parser.add_argument("--concurrency", type=whole_number, default=1, metavar="N", help=at_once)
    version = "the version of vLLM, if the spec does not say it (default: that of AWS's newest image)"
    parser.add_argument("--vllm", type=_version, metavar="VERSION", help=version)
    cache = "the type of the KV cache, such as fp8"
    parser.add_argument("--kv-cache-dtype", metavar="TYPE", help=cache)
    logged = "a log of vLLM's start on the spec's instance type: the size of the KV cache in it counts"
    parser.add_argument("--log", type=Path, metavar="FILE", help=logged)
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    parser.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    instead = "propose what to write for this type, instead of for the first that holds it or for the spec's"
    parser.add_argument("--choose", type=_gpu_type, metavar="TYPE", help=instead)
    parser.add_argument("--write", action="store_true", help="edit the spec accordingly, and show the diff")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(wrong_usage=parser.error)


def _gpu_type(text: str) -> str:
    known = [it for it in instances.names() if (found := instances.find(it)) is not None and found.gpus]
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} has no GPU that is known; {choose(text, known)}")
    return text


def _version(text: str) -> str:
    if _VERSION.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version of vLLM, such as {newest_version()}")
    return text


def run(options: argparse.Namespace) -> int:
    """List the instance types that hold a language model, with its weights, KV cache and requests, and with
    --write edit the spec so that the model runs on its own type, or on the chosen one.

    The exit status is 1 if none holds it.
    """
    if options.log is not None and options.spec is None:
        options.wrong_usage("--log is of a start of a SPEC: name one")
    if options.write and options.format == "json":
        options.wrong_usage("--write shows a diff, which is not json")
    if options.write and options.spec is None:
        options.wrong_usage("--write edits a SPEC: name one")
    served = list(_served(options))
    if not served:
        raise Refusal(
            f"{options.spec}: no container names a `model_config`; write one, or add --model-config"
        )
    region = options.region
    if options.spec is not None:
        looked_at = load_unruled(options.spec, stage=options.stage, region=options.region)
        region = region_of(looked_at.spec)
    prices = prices_for(region, options.prices)
    found = [(it, _fits(options, it, prices)) for it in served]
    if options.format == "json":
        rows = [_fields(it, one, prices) for it, of in found for one in _shown(options, it, of)]
        print(json_text(rows))
    else:
        for it, of in found:
            lines = _lines(options, it, of, prices)
            print("".join(f"{printable(line)}\n" for line in lines), end="", flush=True)
        if not prices.per_hour:
            tell(f"without prices, the smallest come first; {HOW_TO_GET_PRICES}")
    if options.write:
        _write(options, found)
    return int(not all(any(it.verdict != "no" for it in of) for _, of in found))


def _served(options: argparse.Namespace) -> Iterator[_AskedModel]:
    """Every model with its name and the way in which it is served."""
    # The newest with an image of AWS's rather than of all releases.
    version = max(images.versions("vllm"), key=numbers) if options.vllm is None else options.vllm
    asked = {} if options.kv_cache_dtype is None else {"cache_dtype": options.kv_cache_dtype}
    if options.spec is None:
        if options.model_config is None:
            options.wrong_usage("name a SPEC, or add --model-config PATH")
        model = read_model(options.model_config)
        plain = Served(version=version, **asked)
        yield _AskedModel(model.name, model, plain, context=options.context)
        return
    loaded = load_to_look_at(options.spec, stage=options.stage, region=options.region)
    for placed, it in described_models(loaded.spec, loaded.document, options.model_config):
        described = Described(placed, it)
        serving, model = described.serving(1), replace(it, context=described.longest)
        plain = described.with_defaults or Served(version=version)
        if serving is None:
            unclear = described.unclear
            because = "" if unclear is None else f"what {unclear.name} does to its memory is not known: "
            judged = f"judged as {_engine(plain)} with its defaults serves it"
            tell(printable(f"{dotted(placed.path)}: {because}{judged}"))
        how = replace(serving or plain, tensor_parallel=1, pipeline_parallel=1, **asked)
        longest, planned = described.number("max_model_len"), options.context or planned_tokens(placed)
        yield _AskedModel(dotted(placed.path), model, how, placed, serving is not None, longest, planned)


def _fits(options: argparse.Namespace, asked: _AskedModel, prices: Prices) -> Sequence[Fit]:
    model, placed = asked.model, asked.placed
    if model.weight_bytes is None:
        fix = "`inferstack describe-model` writes a folder that has it"
        raise Refusal(f"{model.file}: no index beside it says how large the weights are; {fix}")
    wanted = Wanted(asked.context, options.concurrency)
    if placed is not None:
        is_alone = not runs_of(placed.spec, placed.path)
        at_once = sequences(placed)
        wanted = replace(wanted, takes_all_gpus=is_alone, sequences=at_once, longest=asked.longest)
    found = fits(model, asked.serving, wanted)
    if options.log is not None:
        found = _as_logged(options.log, asked, list(found), wanted)
    return ranked(found, prices.of)


_LOGGED = re.compile(r"GPU KV cache size: ([0-9][0-9,]*) tokens")


def _as_logged(log: Path, asked: _AskedModel, found: Sequence[Fit], wanted: Wanted) -> Iterator[Fit]:
    """The same, with the KV cache that the log shows on the type that the spec has the model on."""
    try:
        sizes = _LOGGED.findall(log.read_text("utf-8", errors="replace"))
    except OSError as error:
        raise Refusal(f"{log}: the file cannot be read: {error.strerror}") from None
    context, own = wanted.context or asked.model.context, [it for it in found if asked.runs_on(it)]
    if not sizes or len(own) != 1 or context is None:
        fix = "give the log of a start of vLLM, and a spec that runs it on one instance type"
        raise Refusal(f"{log}: it has no line `GPU KV cache size: … tokens` for one instance type; {fix}")
    tokens = int(sizes[-1].replace(",", ""))
    measured = with_logged_cache(own[0], tokens, wanted, context)
    if measured is None:
        band = "of unknown size" if own[0].tokens is None else f"of {_counted(own[0].tokens)} tokens"
        not_its = f"a KV cache of {tokens} tokens is not that of {asked.name} on {own[0].host.name}"
        raise Refusal(f"{log}: {not_its}, which has one {band}; give the log of this model on this type")
    yield from (measured if it is own[0] else it for it in found)


def _shown(options: argparse.Namespace, asked: _AskedModel, found: Sequence[Fit]) -> Sequence[Fit]:
    if options.instance_type is not None:
        return [it for it in found if it.host.name in options.instance_type]
    # Types that differ in the host only hold the same.
    first = {_gpus(it): it for it in reversed(found)}
    return [it for it in found if first[_gpus(it)] is it or asked.runs_on(it)]


def _gpus(fit: Fit) -> tuple[str | None, int, int]:
    return fit.host.gpu_name, fit.host.gpu_memory_mib_each, fit.host.gpus


# ---------------------------------------------------------------- into the spec


def _write(options: argparse.Namespace, found: Sequence[tuple[_AskedModel, Sequence[Fit]]]) -> None:
    changes: dict[SpecPath, Any] = {}
    for asked, of in found:
        if asked.placed is None or not asked.is_known:
            reason = "what its engine and its variables take of the GPUs is not known"
            raise Refusal(f"{options.spec}: {asked.name}: not written, because {reason}")
        try:
            name = options.choose or only_type(asked.placed)
            fit = _named(asked, of, name)
            of_engine = _options(options, asked, fit)
            changes |= changes_for_fit(asked.placed, fit, asked.model.weight_bytes or 0, of_engine)
            if "max_model_len" not in of_engine and asked.context != asked.model.context:
                changes |= planned(asked.placed, fit, asked.context)
        except NotWritableError as error:
            raise Refusal(f"{options.spec}: {asked.name}: {error}") from None
        doubt = ", which perhaps holds it" if fit.verdict == "perhaps" else ""
        print(printable(f"{asked.name}, on {fit.host.name}{doubt}:"))
        if "max_model_len" in of_engine:
            refused = f"longer requests than {asked.context} tokens are refused from then on"
            print(f"{refused}: {asked.model.context} may have no room")
    edit_spec(options.spec, changes, stage=options.stage, region=options.region)


def _named(asked: _AskedModel, found: Sequence[Fit], name: str) -> Fit:
    """The fit on a type, which holds the model at least perhaps."""
    fit = next((it for it in found if it.host.name == name and it.verdict != "no"), None)
    if fit is None:
        better = next((it.host.name for it in found if it.verdict != "no"), None)
        fix = "none does" if better is None else f"add `--choose {better}`, or another that does"
        raise Refusal(f"{asked.name}: {name} does not hold the model with these requests; {fix}")
    return fit


def _options(options: argparse.Namespace, asked: _AskedModel, fit: Fit) -> dict[str, str]:
    """The engine's options on which the numbers rest, by vLLM's names."""
    found = {} if options.kv_cache_dtype is None else {"kv_cache_dtype": options.kv_cache_dtype}
    longest, tokens = asked.model.context, fit.tokens
    if asked.context is None or longest is None or tokens is None or asked.context >= longest:
        return found
    # vLLM does not start where the longest request has no room. What the spec says stays if it may have some.
    if (tokens.least if asked.longest is None else tokens.most) < longest:
        found["max_model_len"] = str(asked.context)
    return found


# ---------------------------------------------------------------- for people


def _lines(
    options: argparse.Namespace, asked: _AskedModel, found: Sequence[Fit], prices: Prices
) -> Iterator[str]:
    model, serving, shown = asked.model, asked.serving, _shown(options, asked, found)
    context = asked.context or model.context
    size = (model.weight_bytes or 0) / GIB
    name = model.name if asked.name == model.name else f"{asked.name}: {model.name}"
    yield f"{name}, {size:.1f} GiB of weights, {_engine(serving)}"
    served = f" (up to {model.context} are served)" if model.context not in (None, context) else ""
    requests = "" if context is None else f"requests of {context} tokens{served}; "
    yield f"{requests}memory in GiB on each GPU"
    besides = overhead(serving)
    if besides is not None:
        yield f"besides weights and KV cache, vLLM takes {_band(besides)}"
    yield from _table(asked, [it for it in shown if it.verdict != "no"], prices)
    others = ", ".join(_marked(asked, it) for it in shown if it.verdict == "no")
    if others:
        yield from _wrapped(f"too small: {others}")
    if any(asked.runs_on(it) for it in shown):
        yield "* the spec's instance type"
    unknown = next((it.unknown for it in shown if it.unknown is not None), None)
    if unknown is not None:
        yield from _wrapped(f"tokens and requests are unknown: {unknown}")
    proposed = _best(asked, found if options.instance_type is None else shown)
    if options.choose is not None:
        proposed = _named(asked, found, options.choose)
    if proposed is not None and not options.write:
        yield from ("", *_proposed(proposed, asked, _options(options, asked, proposed)))
    changes = () if all(it.verdict == "yes" for it in shown) else tuple(_changes(model, serving, context))
    yield from ("what would change it:", *changes) if changes else ()


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _engine(serving: Served) -> str:
    return f"{ENGINES[serving.engine].title} {serving.version}"


def _best(asked: _AskedModel, found: Sequence[Fit]) -> Fit | None:
    """The first that surely holds it, else the spec's own type, else the first that surely holds the weights.

    Of those that perhaps hold it, the smallest is the one that most likely does not.
    """
    perhaps = [it for it in found if it.verdict == "perhaps"]
    wished = (
        *(it for it in found if it.verdict == "yes"),
        *(it for it in perhaps if asked.runs_on(it)),
        *(it for it in perhaps if it.cache.least > 0),
        *perhaps,
    )
    return next(iter(wished), None)


def _table(asked: _AskedModel, holding: Sequence[Fit], prices: Prices) -> Iterator[str]:
    """The rows under one header, those that surely hold the model apart from the others."""
    if not holding:
        return
    header, *rows = table([_HEADER, *(_cells(asked, it, prices) for it in holding)])
    yield header
    for verdict, said in _VERDICTS.items():
        of_verdict = [row for row, it in zip(rows, holding, strict=True) if it.verdict == verdict]
        yield from (said, *of_verdict) if of_verdict else ()


def _marked(asked: _AskedModel, fit: Fit) -> str:
    return f"{fit.host.name}{'*' * asked.runs_on(fit)}"


def _cells(asked: _AskedModel, fit: Fit, prices: Prices) -> tuple[str, ...]:
    price = prices.of(fit.host.name)
    return (
        _marked(asked, fit),
        f"{fit.tensor_parallel}/{fit.host.gpus}",
        _band(fit.weights),
        _band(fit.cache),
        _counted(fit.tokens),
        _counted(fit.requests),
        "-" if price is None else exact_text(price),
    )


def _band(band: Band) -> str:
    least, most = (
        f"{it:.1f}" if band.most < 100 else f"{it:.0f}" for it in (max(0.0, band.least), band.most)
    )
    return least if least == most else f"{least}-{most}"


def _counted(band: Band | None) -> str:
    least, most = ("unknown",) * 2 if band is None else (_short(band.least), _short(band.most))
    return least if least == most else f"{least}-{most}"


def _short(number: float) -> str:
    """A number in at most four characters, up to a billion."""
    if number < 10_000:
        return str(int(number))
    if number < 1_000_000:
        return f"{int(number / 1000)}k"
    return f"{int(number / 100_000) / 10:.1f}M" if number < 10_000_000 else f"{int(number / 1_000_000)}M"


def _proposed(fit: Fit, asked: _AskedModel, of_engine: Mapping[str, str]) -> Iterator[str]:
    """What to write for a row."""
    seconds = start_timeout(asked.model.weight_bytes or 0)
    is_component = asked.placed is None or bool(runs_of(asked.placed.spec, asked.placed.path))
    yield f"in the spec, for {fit.host.name}{_how_to_write(fit, asked)}:"
    if asked.serving.engine not in UNDIVIDED:
        yield f"  tensor parallelism: {fit.tensor_parallel}"
    yield from (f"  {what}: {value}" for what, value in of_engine.items())
    if is_component:
        yield f"  number_of_accelerator_devices_required: {fit.tensor_parallel}"
        yield f"  min_memory_required_in_mb: {fit.host_memory_mib}"
    yield from (f"  {key}: {seconds}" for key in (DOWNLOAD, HEALTH_CHECK))
    if fit.concurrency_target is not None:
        yield f"  target of concurrent requests per copy: {fit.concurrency_target}"
    least, most = minutes_to_read(asked.model.weight_bytes or 0)
    minutes = f"{most} minute{'s' * (most > 1)}" if least == most else f"{least} to {most} minutes"
    yield f"a copy that starts or wakes up reads its weights for {minutes},"
    yield "after its image and, if no instance has room, the instance have arrived"


def _how_to_write(fit: Fit, asked: _AskedModel) -> str:
    if asked.placed is None:
        return ""
    chosen = "" if asked.placed.instance_types == (fit.host.name,) else f"--choose {fit.host.name} "
    return f" ({chosen}--write edits it)"


def _changes(model: LanguageModel, serving: Served, context: int | None) -> Iterator[str]:
    """What would change the table."""
    if model.quantization is None and serving.quantization is None and serving.engine not in UNDIVIDED:
        half = (model.weight_bytes or 0) / 2 / GIB
        yield f"  a model quantized to 8 bits: {half:.1f} GiB of weights"
    of_token = token_bytes(model, serving)
    if isinstance(of_token, Unknown) or not of_token or context is None:
        return
    yield f"  fewer tokens: 1,000 take {of_token * 1000 / GIB:.2f} GiB, over all GPUs of a copy"
    if serving.cache_dtype == "auto":
        yield "  --kv-cache-dtype fp8: twice as many tokens"


# ---------------------------------------------------------------- for programs


def _fields(asked: _AskedModel, fit: Fit, prices: Prices) -> dict[str, Any]:
    def band(of: Band | None) -> list[float] | None:
        return None if of is None else [round(of.least, 2), round(of.most, 2)]

    price = prices.of(fit.host.name)
    return {
        "container": asked.name,
        "instance_type": fit.host.name,
        "is_of_spec": asked.runs_on(fit),
        "fits": fit.verdict,
        "tensor_parallel": fit.tensor_parallel,
        "copies": fit.copies,
        "weights_gib": band(fit.weights),
        "overhead_gib": band(fit.overhead),
        "kv_cache_gib": band(fit.cache),
        "tokens": band(fit.tokens),
        "requests": band(fit.requests),
        "unknown": fit.unknown,
        "host_memory_mib": fit.host_memory_mib,
        "concurrency_target": fit.concurrency_target,
        "price_per_hour": None if price is None else exact_text(price),
    }
