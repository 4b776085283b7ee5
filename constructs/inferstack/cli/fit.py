"""``inferstack fit``: which instance types hold a language model, and how many requests fit beside it."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.check.load import load_spec
from inferstack.check.model_files import described_models
from inferstack.check.rules.language_models.model_files import Described
from inferstack.cli.arguments import add_region, whole_number
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.endpoint.cost import Prices
from inferstack.engines.architectures import newest_version, version_numbers
from inferstack.engines.fit import Fit, Wanted, fits, ranked
from inferstack.engines.kv_cache import Served, Unknown, token_bytes
from inferstack.engines.memory import GIB, Band
from inferstack.engines.model_config import LanguageModel, read_model
from inferstack.facts.walk import region_of
from inferstack.problems import dotted, printable
from inferstack.problems.words import choose
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, prices_for

_HEADER = (
    *("INSTANCE TYPE", "FITS", "GPUS A COPY", "COPIES", "WEIGHTS", "OVERHEAD", "KV CACHE", "TOKENS"),
    *("REQUESTS", "PER HOUR"),
)
# Of weights and images, from S3 and from ECR; what is measured varies between 100 and 500.
_BYTES_A_SECOND = 100_000_000
_SHORTEST, _LONGEST = 600, 3600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("spec", type=Path, nargs="?", metavar="SPEC", help="a spec with a `model_config`")
    described = "a model's config.json, or the folder with it; instead of a spec, or of what it names"
    parser.add_argument("--model-config", type=Path, metavar="PATH", help=described)
    types = "only this instance type; may be repeated"
    parser.add_argument("--instance-type", type=_gpu_type, metavar="TYPE", action="append", help=types)
    tokens = "tokens of a request with its answer (default: the longest that is served)"
    parser.add_argument("--context", type=whole_number, metavar="N", help=tokens)
    at_once = "requests at once that a copy has to hold (1)"
    parser.add_argument("--concurrency", type=whole_number, default=1, metavar="N", help=at_once)
    version = "the version of vLLM, if the spec does not say it (default: the newest that is known)"
    parser.add_argument("--vllm", type=_version, metavar="VERSION", help=version)
    cache = "the type of the KV cache, such as fp8"
    parser.add_argument("--kv-cache-dtype", metavar="TYPE", help=cache)
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the spec")
    add_region(parser)
    parser.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(wrong_usage=parser.error)


def _gpu_type(text: str) -> str:
    known = [it for it in instances.names() if (found := instances.find(it)) is not None and found.gpus]
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} has no GPU that is known; {choose(text, known)}")
    return text


def _version(text: str) -> str:
    if len(version_numbers(text)) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version of vLLM, such as {newest_version()}")
    return text


def run(options: argparse.Namespace) -> int:
    """List the instance types that hold a language model, with its weights, KV cache and requests.

    The exit status is 1 if none holds it.
    """
    served = list(_served(options))
    if not served:
        raise Refusal(
            f"{options.spec}: no container names a `model_config`; write one, or add --model-config"
        )
    region = options.region
    if options.spec is not None:
        region = region_of(load_spec(options.spec, stage=options.stage, region=options.region).spec)
    prices = prices_for(region, options.prices)
    found = [
        (name, model, serving, _fits(options, model, serving, prices)) for name, model, serving in served
    ]
    if options.format == "json":
        print(json.dumps([_fields(name, it, prices) for name, _, _, of in found for it in of], indent=1))
    else:
        for name, model, serving, of in found:
            lines = _lines(name, model, serving, of, options, prices)
            print("".join(f"{printable(line)}\n" for line in lines), end="", flush=True)
        if not prices.per_hour:
            tell(f"without prices, the smallest come first; {HOW_TO_GET_PRICES}")
    return int(not all(any(it.verdict != "no" for it in of) for *_, of in found))


def _served(options: argparse.Namespace) -> Iterator[tuple[str, LanguageModel, Served]]:
    """Every model with its name and the way in which it is served."""
    version = newest_version() if options.vllm is None else options.vllm
    asked = {} if options.kv_cache_dtype is None else {"cache_dtype": options.kv_cache_dtype}
    if options.spec is None:
        if options.model_config is None:
            options.wrong_usage("name a SPEC, or add --model-config PATH")
        model = read_model(options.model_config)
        yield model.name, model, Served(version=version, **asked)
        return
    loaded = load_spec(options.spec, stage=options.stage, region=options.region)
    for placed, it in described_models(loaded.spec, loaded.document, options.model_config):
        described = Described(placed, it)
        serving, model = described.serving(1), replace(it, context=described.longest)
        if serving is None:
            tell(printable(f"{dotted(placed.path)}: judged as vLLM {version} with its defaults serves it"))
            serving = Served(version=version)
        yield dotted(placed.path), model, replace(serving, tensor_parallel=1, pipeline_parallel=1, **asked)


def _fits(
    options: argparse.Namespace, model: LanguageModel, serving: Served, prices: Prices
) -> Sequence[Fit]:
    if model.weight_bytes is None:
        fix = "`inferstack describe-model` writes a folder that has it"
        raise Refusal(f"{model.file}: no index beside it says how large the weights are; {fix}")
    wanted = Wanted(options.context, options.concurrency)
    found = ranked(fits(model, serving, wanted), prices.of)
    if options.instance_type is not None:
        return [it for it in found if it.host.name in options.instance_type]
    # Types that differ in the host only hold the same.
    return sorted({_gpus(it): it for it in reversed(found)}.values(), key=found.index)


def _gpus(fit: Fit) -> tuple[str | None, int, int]:
    return fit.host.gpu_name, fit.host.gpu_memory_mib_each, fit.host.gpus


# ---------------------------------------------------------------- for people


def _lines(
    name: str,
    model: LanguageModel,
    serving: Served,
    found: Sequence[Fit],
    options: argparse.Namespace,
    prices: Prices,
) -> Iterator[str]:
    context = options.context or model.context
    size = (model.weight_bytes or 0) / GIB
    yield f"{name}: {model.name}, {size:.1f} GiB of weights, vLLM {serving.version}"
    if context is not None:
        yield f"requests of {context} tokens; memory in GiB on each GPU"
    holding = [it for it in found if it.verdict != "no"]
    if holding:
        yield from table([_HEADER, *(_cells(it, prices) for it in holding)])
    others = [it.host.name for it in found if it.verdict == "no"]
    if others:
        yield f"too small: {', '.join(others)}"
    unknown = next((it.unknown for it in found if it.unknown is not None), None)
    if unknown is not None:
        yield f"tokens and requests are unknown: {unknown}"
    if holding:
        yield from ("", *_proposed(holding[0], model))
    yield from _changes(found, model, serving, context)


def _cells(fit: Fit, prices: Prices) -> tuple[str, ...]:
    price = prices.of(fit.host.name)
    return (
        fit.host.name,
        fit.verdict,
        str(fit.tensor_parallel),
        str(fit.copies),
        _band(fit.weights),
        _band(fit.overhead),
        _band(fit.cache),
        _counted(fit.tokens),
        _counted(fit.requests),
        "-" if price is None else f"{price.normalize():f}",
    )


def _band(band: Band) -> str:
    least, most = f"{max(0.0, band.least):.1f}", f"{band.most:.1f}"
    return least if least == most else f"{least}-{most}"


def _counted(band: Band | None) -> str:
    return "unknown" if band is None else f"{int(band.least)}-{int(band.most)}"


def _proposed(fit: Fit, model: LanguageModel) -> Iterator[str]:
    """What to write for the first row."""
    seconds = _seconds(model.weight_bytes or 0)
    yield f"in the spec, for {fit.host.name}:"
    yield f"  tensor parallelism: {fit.tensor_parallel}"
    yield f"  number_of_accelerator_devices_required: {fit.tensor_parallel}"
    yield f"  min_memory_required_in_mb: {fit.host_memory_mib}"
    yield f"  model_data_download_timeout_in_seconds: {seconds}"
    yield f"  container_startup_health_check_timeout_in_seconds: {seconds}"
    if fit.concurrency_target is not None:
        yield f"  target of concurrent requests per copy: {fit.concurrency_target}"


def _seconds(size: int) -> int:
    """Twice what reading so many bytes takes, in whole minutes, within what SageMaker allows."""
    needed = -(-2 * size // _BYTES_A_SECOND // 60) * 60
    return min(_LONGEST, max(_SHORTEST, needed))


def _changes(
    found: Sequence[Fit], model: LanguageModel, serving: Served, context: int | None
) -> Iterator[str]:
    """What would change the table."""
    if all(it.verdict == "yes" for it in found):
        return
    yield "what would change it:"
    if model.quantization is None:
        half = (model.weight_bytes or 0) / 2 / GIB
        yield f"  a model quantized to 8 bits: {half:.1f} GiB of weights"
    of_token = token_bytes(model, serving)
    if isinstance(of_token, Unknown) or not of_token or context is None:
        return
    yield f"  fewer tokens: 1,000 take {of_token * 1000 / GIB:.2f} GiB, over all GPUs of a copy"
    if serving.cache_dtype == "auto":
        yield "  --kv-cache-dtype fp8: twice as many tokens"


# ---------------------------------------------------------------- for programs


def _fields(name: str, fit: Fit, prices: Prices) -> dict[str, Any]:
    def band(of: Band | None) -> list[float] | None:
        return None if of is None else [round(of.least, 2), round(of.most, 2)]

    price = prices.of(fit.host.name)
    return {
        "container": name,
        "instance_type": fit.host.name,
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
        "price_per_hour": None if price is None else f"{price.normalize():f}",
    }
