"""Generates ``images.json`` from the image tables of AWS's own Python SDK, ``sagemaker-core``. What those
leave out is in ``image-contents.csv``, which is kept by hand.

The SDK puts a tag together from a dozen fields and special cases at run time. Here that happens once, so
that the product has finished tags: ``{version}`` in a tag stands for the version as the user wrote it,
``{base}`` for that of the framework underneath a Hugging Face image.
"""

import csv
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tools.generated_files import PACKAGE
from tools.sources import Json, package_file, read_json

RENAMED = {"sagemaker-tritonserver": "triton"}
# Frameworks whose tags name the inference tool where other tags name the processor.
NEURON_TOOLS = {
    "huggingface-neuron": "neuron",
    "huggingface-neuronx": "neuronx",
    "huggingface-llm-neuronx": "neuronx",
}
# Frameworks with one repository for both architectures, which their tags distinguish.
ARM64_IN_TAG = frozenset({"sklearn", "xgboost"})
NOT_FRAMEWORKS = frozenset({"instance_gpu_info"})


def generate() -> dict[str, Json]:
    """The data file, by file name."""
    registries: dict[str, Json] = {}
    frameworks = {
        RENAMED.get(name, name): lines
        for name, config in _configs()
        for lines in [_lines(name, config, registries)]
        if lines
    }
    _add_left_out(frameworks)
    return {"images.json": {"frameworks": frameworks, "registries": registries}}


def _configs() -> Iterator[tuple[str, Json]]:
    folder = package_file("sagemaker-core", "sagemaker/core/image_uri_config")
    for path in sorted(folder.glob("*.json")):
        if path.stem not in NOT_FRAMEWORKS:
            yield path.stem, read_json(path)


# Their tags begin with the version, and AWS has short ones, too: `0.27` for `0.27.1`.
ALIASED = frozenset({"sglang", "vllm"})


def _add_left_out(frameworks: dict[str, dict[str, Json]]) -> None:
    """Adds what AWS lists and the SDK no longer has, in the registries of the oldest that it has."""
    rows = csv.DictReader((PACKAGE / "catalog/data/image-contents.csv").read_text().splitlines())
    for name, left_out in itertools.groupby(rows, key=lambda row: row["framework"]):
        if name:
            _extend(name, frameworks[name]["x86_64"], left_out)


def _extend(framework: str, line: Json, rows: Iterable[dict[str, str]]) -> None:
    (oldest,) = next(iter(line["versions"].values()))
    (processor,) = oldest["tags"]
    aliases: dict[str, str] = {}
    for row in rows:
        version, python = row["version"], re.search(r"-(py\d+)\b", row["tag"])
        if version in line["versions"]:
            raise ValueError(f"the SDK has {framework} {version}: empty the last three cells of its row")
        line["versions"][version] = [
            {
                **({"py": python[1]} if python else {}),
                **{word: oldest[word] for word in ("registries", "repository")},
                "tags": {processor: row["tag"]},
            }
        ]
        if framework in ALIASED:
            aliases[version.rpartition(".")[0]] = version
    line["aliases"].update({short: it for short, it in aliases.items() if short not in line["aliases"]})


def _lines(framework: str, config: Json, registries: dict[str, Json]) -> dict[str, Json]:
    """The images for inference, by processor architecture."""
    if framework.endswith("-arm64"):
        scopes = {"arm64": config}
    elif "scope" in config:
        scopes = {"x86_64": config}
    else:
        scopes = {"x86_64": config.get("inference", {}), "arm64": config.get("inference_graviton", {})}
    return {
        architecture: _line(framework, architecture, scope, registries)
        for architecture, scope in scopes.items()
        if scope and "inference" in scope.get("scope", ["inference"])
    }


def _line(framework: str, arch: str, scope: Json, registries: dict[str, Json]) -> Json:
    versions = {
        version: [_image(framework, arch, scope, registries, row) for row in _rows(version, entry)]
        for version, entry in scope["versions"].items()
    }
    return {"aliases": scope.get("version_aliases", {}), "versions": versions}


def _rows(version: str, entry: Json) -> Iterator[dict[str, Any]]:
    """One row for every Python version and base framework, whichever way the SDK nests them."""
    if "repository" in entry:
        for py in entry.get("py_versions") or (None,):
            yield {**entry, "version": version, "py": py}
        return
    aliases = entry.get("version_aliases", {})
    for key, nested in entry.items():
        if key.startswith("py") and key[2:].isdigit():
            yield {**nested, "version": version, "py": key}
        elif key != "version_aliases":
            base = {"base": key, "base_aliases": sorted(a for a, full in aliases.items() if full == key)}
            yield from ({**row, **base} for row in _rows(version, nested))


def _image(framework: str, arch: str, scope: Json, registries: dict[str, Json], row: Json) -> Json:
    processors = scope.get("processors") or row.get("processors") or ("",)
    kept = {word: row[word] for word in ("py", "base", "base_aliases", "repository") if row.get(word)}
    tags = {_sort(framework, it): _tag(framework, arch, it, row) for it in processors}
    return {**kept, "registries": _registered(row["registries"], registries), "tags": tags}


def _sort(framework: str, processor: str) -> str:
    """What runs the image. For one made with ``neuronx``, the SDK only says Inferentia; it runs on
    Inferentia2 and Trainium.
    https://huggingface.co/docs/text-generation-inference/backends/neuron
    """
    return "neuronx" if NEURON_TOOLS.get(framework) == "neuronx" else processor


def _registered(accounts: Mapping[str, str], registries: dict[str, Json]) -> str:
    """The name of an account table, given by its content; versions with the same accounts share one."""
    name = hashlib.sha256(json.dumps(accounts, sort_keys=True).encode()).hexdigest()[:8]
    registries[name] = accounts
    return name


def _tag(framework: str, arch: str, processor: str, row: Json) -> str:
    pieces = [
        _prefix(framework, row),
        "arm64" if arch == "arm64" and framework in ARM64_IN_TAG else None,
        _processor_piece(framework, processor, row),
        row["py"],
        *_container_pieces(framework, processor, row),
    ]
    return "-".join(piece for piece in pieces if piece)


def _prefix(framework: str, row: Json) -> str:
    if "base" not in row:
        return str(row.get("tag_prefix", "{version}"))
    # All other tags repeat the base version as the user wrote it.
    base = row["base"].removeprefix("pytorch") if framework in NEURON_TOOLS else "{base}"
    return f"{base}-transformers{row['version']}"


def _processor_piece(framework: str, processor: str, row: Json) -> str | None:
    if framework in NEURON_TOOLS:
        return NEURON_TOOLS[framework]
    unnamed = "gpu" if framework == "sagemaker-tritonserver" else None
    return processor if row.get("processor_in_tag", True) and processor != unnamed else None


def _container_pieces(framework: str, processor: str, row: Json) -> Iterator[str]:
    if "sdk_versions" in row:
        yield max(row["sdk_versions"])
    if "container_version" in row:
        yield row["container_version"][processor]
    if row["repository"] in (f"{framework}-inference-graviton", f"{framework}-inference-arm64"):
        yield "sagemaker"
