"""Generates which models each version of vLLM runs, and with which kind of KV cache, from wheels in build/.

    pip download --no-deps --dest build vllm==0.33.0 transformers      (and further versions of vLLM)

Nothing of them is imported. The kind follows from the classes that a model's class can reach by name: any
trace of a cache of another form counts, so that only what has none is taken for plain attention. What build/
lacks stays as it is in the table.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from zipfile import ZipFile

from tools.generated_files import PACKAGE, ROOT, Contents

Kinds = dict[str, str]
"""The kind of KV cache by architecture."""

TABLE = PACKAGE / "engines" / "data" / "vllm-architectures.json"
BUILD = ROOT / "build"
_MODELS = "vllm/model_executor/models"
_REGISTRY = f"{_MODELS}/registry.py"
_CONFIGS = "vllm/transformers_utils/config.py"
_GONE = "_PREVIOUSLY_SUPPORTED_MODELS"
_DRAFTS = "_SPECULATIVE_DECODING_MODELS"
# Modules without a decoder of their own, though others import them.
_ASIDE = frozenset(
    {"interfaces", "interfaces_base", "utils", "module_mapping", "adapters", "registry", "vision"}
)
_ASIDE |= {"clip", "siglip", "siglip2navit", "intern_vit", "idefics2_vision_model", "pixtral", "blip"}
_ASIDE |= {"fairseq2_llama", "whisper_utils"}
_STATES = frozenset({"IsHybrid", "HasInnerState", "IsAttentionFree", "MambaBase"})
_OTHER = re.compile(
    r"MambaMixer|GatedDeltaNet|ShortConv\b|LinearAttention|KimiDelta|MambaBase|MambaSpec|Mamba2"
    r"|CrossAttention|ChunkedLocalAttention|attention_chunk_size"
    r"|kv_sharing_target_layer_name|num_kv_shared_layers"
)
_MLA = re.compile(r"MLAAttention|MultiHeadLatentAttention|kv_lora_rank|MLAModules")
_SPECIAL = re.compile(
    r"get_kv_cache_spec|KVCacheSpec|AttentionSpec|Indexer|compress_ratio|sparse_attn|StaticSink|SinkFull|RSWA"
    r"|head_dim_v|v_head_dim"
)
_ENCODER = re.compile(r"EncoderOnlyAttention|AttentionType\.ENCODER_ONLY")
_TRANSFORMERS = re.compile(r"ALL_ATTENTION_FUNCTIONS|TransformersForCausalLM")
_SLIDING = re.compile(r"sliding_window|layer_types|window_size")
_BLOCKS = re.compile(r"block_configs|no_op")
_HEADS = frozenset({"num_key_value_heads", "num_kv_heads", "n_head_kv", "head_dim"})
_IMPORT = re.compile(
    r"^from (?:\.|vllm\.model_executor\.models\.|(?=vllm\.models\.))([\w.]+) import (\([^)]*\)|[^\n]+)", re.M
)


def generate() -> Contents:
    """The table of all versions."""
    kept = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {}
    kinds = {_version(it): _at(kept, at) for at, it in enumerate(kept.get("versions", ()))}
    gone: dict[str, str] = dict(kept.get("no_longer", {}))
    own = set(kept.get("own_types", ()))
    for wheel in sorted(BUILD.glob("vllm-*.whl")):
        with ZipFile(wheel) as archive:
            tables = dict(_tables(ast.parse(archive.read(_REGISTRY))))
            kinds[_version(wheel.name.split("-")[1])] = dict(_Models(archive).kinds(tables))
            gone |= tables.get(_GONE, {})
            own |= set(_own_types(ast.parse(archive.read(_CONFIGS))))
    transformers: str = kept.get("transformers", "")
    types: dict[str, list[str]] = kept.get("model_types", {})
    for wheel in sorted(BUILD.glob("transformers-*.whl"), key=lambda it: _version(it.name.split("-")[1])):
        with ZipFile(wheel) as archive:
            transformers, types = wheel.name.split("-")[1], dict(_model_types(archive))
    return {TABLE: _render(dict(sorted(kinds.items())), gone, own, transformers, types)}


def _version(text: str) -> tuple[int, ...]:
    """The first two numbers: a third is for corrections."""
    return tuple(int(it) for it in text.split(".")[:2])


# ---------------------------------------------------------------- one version


def _tables(registry: ast.Module) -> Iterator[tuple[str, dict[str, str]]]:
    """The registry's tables by name: what runs each architecture, as `module:Class`; the version that last
    ran one that is gone.
    """
    for node in registry.body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Dict() as table) | ast.AnnAssign(
                ast.Name(name), _, ast.Dict() as table
            ):
                entries = zip(table.keys, table.values, strict=True)
                yield (
                    name,
                    {str(key.value): _joined(it) for key, it in entries if isinstance(key, ast.Constant)},
                )


def _joined(value: ast.expr) -> str:
    if isinstance(value, ast.Tuple):
        return ":".join(str(it.value) for it in value.elts if isinstance(it, ast.Constant))
    return str(value.value) if isinstance(value, ast.Constant) else ""


class _Models:
    """The modules of the models of one wheel."""

    def __init__(self, archive: ZipFile) -> None:
        self.archive = archive
        self.names = frozenset(archive.namelist())
        self.texts: dict[str, str] = {}
        self.parts: dict[str, dict[str, tuple[str, list[str]]]] = {}

    def kinds(self, tables: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
        """The kind of every architecture that the registry has, but those of drafts."""
        for name, table in tables.items():
            if name.endswith("_MODELS") and name not in (_GONE, _DRAFTS):
                for architecture, runs in table.items():
                    if ":" in runs:
                        yield architecture, self._kind(*runs.split(":")[:2])

    def _kind(self, module: str, name: str) -> str:
        if module.startswith("transformers"):
            return "by-config"
        if module.startswith("vllm.models.") or not self._text(module):
            return "other"
        text, bases = self._reached(module, name)
        if bases & _STATES or _OTHER.search(text):
            # MLA inside of a hybrid is no plain MLA.
            return "other"
        if _MLA.search(text):
            return "mla"
        if _SPECIAL.search(text):
            return "other"
        if _ENCODER.search(text) and not re.search(r"\bAttention\b", text):
            return "none"
        if _TRANSFORMERS.search(text):
            return "by-config"
        if "init_vllm_registered_model" in text:
            return "of-text"
        if _BLOCKS.search(text) or not re.search(r"Attention\(|\bAttention\b", text):
            return "other"
        return "by-config" if _SLIDING.search(text) else "full"

    def _reached(self, module: str, name: str) -> tuple[str, set[str]]:
        """The text of a class and of all that it reaches by name in modules of models; names of the bases."""
        seen: set[tuple[str, str]] = set()
        wanted, texts, bases = [(module, name)], [], set[str]()
        while wanted:
            at = wanted.pop()
            if at in seen or not self._text(at[0]):
                continue
            seen.add(at)
            classes, imports = self._classes(at[0]), self._imports(at[0])
            if at[1] not in classes:
                wanted += [(there, at[1]) for there, names in imports.items() if at[1] in names]
                continue
            text, of_class = classes[at[1]]
            texts.append(text)
            bases.update(of_class)
            for other in set(re.findall(r"\b[A-Z]\w+\b", text)):
                if other in classes:
                    wanted.append((at[0], other))
                else:
                    wanted += [(there, other) for there, names in imports.items() if other in names]
        return "\n".join(texts), bases

    def _text(self, module: str) -> str:
        if module not in self.texts:
            base = module.replace(".", "/") if module.startswith("vllm.") else f"{_MODELS}/{module}"
            path = f"{base}.py" if f"{base}.py" in self.names else f"{base}/__init__.py"
            self.texts[module] = self.archive.read(path).decode() if path in self.names else ""
        return self.texts[module]

    def _classes(self, module: str) -> dict[str, tuple[str, list[str]]]:
        """The text and the bases of each class."""
        if module not in self.parts:
            text = self._text(module)
            lines = text.split("\n")
            self.parts[module] = {
                node.name: (
                    "\n".join(lines[node.lineno - 1 : node.end_lineno]),
                    [ast.unparse(it).split(".")[-1].split("[")[0] for it in node.bases],
                )
                for node in ast.parse(text).body
                if isinstance(node, ast.ClassDef)
            }
        return self.parts[module]

    def _imports(self, module: str) -> dict[str, list[str]]:
        """The names that are imported from each module of models."""
        found: dict[str, list[str]] = {}
        for there, names in _IMPORT.findall(self._text(module)):
            if there not in _ASIDE:
                words = names.strip("()").replace("\n", ",").split(",")
                found.setdefault(there, []).extend(it.strip().split(" as ")[0] for it in words if it.strip())
        return found


# ---------------------------------------------------------------- model types


def _own_types(configs: ast.Module) -> Iterator[str]:
    """The model types of which vLLM has the configuration itself."""
    for node in configs.body:
        match node:
            case ast.AnnAssign(ast.Name("_CONFIG_REGISTRY"), _, ast.Call(keywords=keywords)):
                yield from (it.arg for it in keywords if it.arg is not None)
            case ast.AnnAssign(ast.Name("_CONFIG_REGISTRY"), _, ast.Dict(keys=keys)):
                yield from (str(it.value) for it in keys if isinstance(it, ast.Constant))


def _model_types(archive: ZipFile) -> Iterator[tuple[str, list[str]]]:
    """The model types that Transformers has built in: the class of causal language models, if any, and the
    keys that have a number of their own where a configuration lacks them.
    """
    configs = _pairs(archive, "configuration_auto", "CONFIG_MAPPING_NAMES")
    models = _pairs(archive, "modeling_auto", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES")
    classes: dict[str, ast.ClassDef] = {}
    for path in archive.namelist():
        if re.fullmatch(r"transformers/models/\w+/configuration_\w+\.py", path):
            tree = ast.parse(archive.read(path))
            classes |= {it.name: it for it in tree.body if isinstance(it, ast.ClassDef)}
    for name in sorted(configs):
        yield name, [models.get(name, ""), *sorted(set(_numbered(classes, configs[name])))]


def _numbered(classes: Mapping[str, ast.ClassDef], name: str) -> Iterator[str]:
    """The fields of a class, or of its bases, that are numbers unless given."""
    found = classes.get(name)
    if found is None:
        return
    for node in found.body:
        match node:
            case ast.AnnAssign(ast.Name(field), _, ast.Constant(int())) if field in _HEADS:
                yield field
    for base in found.bases:
        yield from _numbered(classes, ast.unparse(base))


def _pairs(archive: ZipFile, module: str, table: str) -> dict[str, str]:
    found: dict[str, str] = {}
    of_auto = [
        it
        for it in archive.namelist()
        if re.fullmatch(rf"transformers/models/auto/({module}|auto_mappings)\.py", it)
    ]
    for path in of_auto:
        for node in ast.walk(ast.parse(archive.read(path))):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(args=[ast.List(pairs)])) | ast.AnnAssign(
                    ast.Name(name), _, ast.Call(args=[ast.List(pairs)])
                ) if name == table:
                    found |= dict(ast.literal_eval(it) for it in pairs)
    if not found:
        raise LookupError(f"{archive.filename} has no {table}")
    return found


# ---------------------------------------------------------------- all versions


def _at(table: Mapping[str, Mapping[str, list[list[str | int]]]], at: int) -> Kinds:
    spans = table["architectures"].items()
    return {
        name: str(kind) for name, of in spans for kind, first, last in of if int(first) <= at <= int(last)
    }


def _render(
    versions: Mapping[tuple[int, ...], Kinds],
    gone: Mapping[str, str],
    own: set[str],
    transformers: str,
    types: Mapping[str, list[str]],
) -> str:
    """The table as JSON with one entry a line; the same bytes on every run."""
    kinds = list(versions.values())
    names = sorted({name for of_version in kinds for name in of_version})
    architectures = {name: list(_spans([of.get(name) for of in kinds])) for name in names}
    parts = {
        "versions": json.dumps([".".join(map(str, it)) for it in versions]),
        "architectures": _lines(architectures),
        "no_longer": _lines(dict(sorted(gone.items()))),
        "own_types": json.dumps(sorted(own)),
        "transformers": json.dumps(transformers),
        "model_types": _lines(types),
    }
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _spans(kinds: list[str | None]) -> Iterator[tuple[str, int, int]]:
    changes = [0, *(at for at in range(1, len(kinds)) if kinds[at] != kinds[at - 1]), len(kinds)]
    for first, after in pairwise(changes):
        kind = kinds[first]
        if kind is not None:
            yield kind, first, after - 1


def _lines(entries: Mapping[str, object]) -> str:
    lines = (f" {json.dumps(key)}: {json.dumps(it, separators=(',', ':'))}" for key, it in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}"
