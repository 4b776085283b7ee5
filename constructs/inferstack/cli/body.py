"""``inferstack body``: requests made from arrays or texts, and answers read into arrays."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.cli.arguments import whole_number
from inferstack.cli.choice import (
    ALL,
    Choice,
    blocks_of,
    chosen_by,
    load_to_look_at,
    loading,
    only_block,
    only_one,
)
from inferstack.cli.sending import command, warn_of_size
from inferstack.cli.terminal import Refusal, tell, termination_interrupts
from inferstack.cli.text_body import add_text_arguments, make_of_texts, purpose_of, wrong_use_of_texts
from inferstack.facts.triton import PlacedTriton
from inferstack.facts.walk import components
from inferstack.format.kinds import ModelSpec
from inferstack.problems import printable
from inferstack.problems.words import choose, listed
from inferstack.source.whole_files import complete_or_absent
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.repositories import repositories_at

_SHOWN = 4


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack body``."""
    add = command.add_argument
    add("spec", metavar="SPEC", nargs="?", type=Path, help="spec file of the endpoint that is asked")
    add("--stage", help="choose this stage of the spec")
    component = "ask this inference component; needed where several could be meant"
    add("--component", metavar="NAME", help=component)
    model = "ask the variant with this model; needed where several differ in inputs or outputs"
    add("--model", metavar="NAME", help=model)
    target = "ask this archive of a multi-model endpoint (TargetModel)"
    add("--target-model", metavar="ARCHIVE", help=target)
    inputs = "NAME=FILE.npy, NAME=FILE.json, or FILE.npz or FILE.json with several by name; can be repeated"
    add("--input", metavar="[NAME=]FILE", type=_input, action="append", default=[], help=inputs)
    add_parameters(command, "parameter of the request, such as sequence_id=7; can be repeated")
    add("--json", action="store_true", help="write the values as JSON; by default they follow it in binary")
    read = "read this answer instead; needs --content-type; with SPEC it must have the declared outputs"
    add("--read", metavar="FILE", type=Path, help=read)
    add("--content-type", metavar="TYPE", help="with --read: the answer's content type, as it came")
    sample = "write the body into this tar.gz instead, as a sample for load tests"
    add("--sample-payload", metavar="FILE", type=Path, help=sample)
    rows = "with --sample-payload: make a body of each N rows of the arrays"
    add("--rows", metavar="N", type=whole_number, help=rows)
    out = "the file to write (default: request.bin or request.json); with --read: FILE.npz or FILE.json"
    add("--out", metavar="FILE", type=Path, help=out)
    add_text_arguments(command)
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Make the body of a request: for Triton from files of arrays, checked against what the model declares,
    for an engine of language models from texts. Or read an answer with --read, and check it if a SPEC is
    there.
    """
    for message in (*_wrong_usage(options), *wrong_use_of_texts(options)):
        options.wrong_usage(message)
    with termination_interrupts():
        if purpose_of(options) is not None:
            return make_of_texts(options)
        return _make(options) if options.read is None else _read(options)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if options.spec is None and options.read is None:
        yield "name a SPEC to make a request for, or an answer to --read"
    if (options.read is None) != (options.content_type is None):
        yield "--read and --content-type go together"
    if options.read is not None and (options.input or options.parameter or options.json):
        yield "--input, --parameter and --json make a request and cannot be used with --read"
    if options.sample_payload is not None and (options.read is not None or options.out is not None):
        yield "--sample-payload takes the place of --out, and cannot be used with --read"
    if options.rows is not None and options.sample_payload is None:
        yield "--rows needs --sample-payload"
    chosen = {options.stage, options.component, options.model, options.target_model}
    if options.spec is None and chosen != {None}:
        yield "--stage, --component, --model and --target-model choose something in a SPEC"


def _input(written: str) -> tuple[str | None, Path]:
    name, equals, file = written.rpartition("=")
    return (name if equals else None), Path(file)


def add_parameters(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds ``--parameter``, for what a request has besides its inputs or texts."""
    parser.add_argument(
        "--parameter", metavar="NAME=VALUE", type=_parameter, action="append", default=[], help=what
    )


def _parameter(written: str) -> tuple[str, str | int | bool]:
    """A name with its value."""
    name, equals, value = written.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{written} is not NAME=VALUE")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, int(value)
    except ValueError:
        return name, value


# ---------------------------------------------------------------- Requests, answers, and their model


class AskedTriton(msgspec.Struct, frozen=True):
    """A model that a request is for, the archive that it is in, and how the request names it."""

    model: TritonModel
    repository: Repository
    choice: Choice
    target_model: str | None


def _make(options: argparse.Namespace) -> int:
    """Writes the body of a request and says how to send it.

    Raises:
        SpecError: with what is wrong with the spec.
        Refusal: when it is not clear which model is meant, or the body cannot be made.
    """
    loaded = load_to_look_at(options.spec, stage=options.stage)
    asked = _asked_by(loaded.spec, options, "the request")
    model = asked.model
    bodies, files = _invocation()
    try:
        inputs = files.read_inputs(model.config, options.input)
        if options.sample_payload is not None:
            return _write_samples(model, inputs, options)
        made = bodies.request_body(
            model.config, inputs, binary=not options.json, parameters=dict(options.parameter)
        )
    except bodies.BodyError as error:
        none = () if options.input else ("name a file of arrays for each input: --input NAME=FILE",)
        return _refused((*error.problems, *none))
    out = Path("request.json" if options.json else "request.bin") if options.out is None else options.out
    with complete_or_absent(out) as file:
        file.write(made.content)
    print(f"{out}\n  model         {model.name}\n  content type  {made.content_type}")
    print(f"  size          {len(made.content)} bytes")
    _show(inputs, "  holds         ")
    print(command(loaded.spec, asked.choice, made.content_type, out, asked.target_model))
    warn_of_size(loaded.spec, made.content)
    return 0


def _write_samples(model: TritonModel, inputs: Any, options: argparse.Namespace) -> int:
    """Writes an archive of bodies, and what a `load_test` block says about it."""
    from inferstack.triton.samples import sample_archive, sample_bodies  # noqa: PLC0415 - brings numpy

    parameters = dict(options.parameter)
    made = sample_bodies(
        model.config, inputs, rows=options.rows, binary=not options.json, parameters=parameters
    )
    with complete_or_absent(options.sample_payload) as file:
        file.write(sample_archive(made, ".json" if options.json else ".bin"))
    print(f"{options.sample_payload}\n  model         {model.name}\n  content type  {made[0].content_type}")
    print(f"  bodies        {len(made)}, up to {max(len(it.content) for it in made)} bytes")
    print("upload it, and write into the spec:")
    print("  load_test:")
    print(f"    sample_payload_url: s3://…/{printable(options.sample_payload.name)}")
    print(f'    supported_content_types: ["{made[0].content_type}"]')
    return 0


def _read(options: argparse.Namespace) -> int:
    """Shows the arrays of an answer, checks them if there is a spec, and then writes them if asked to.

    Raises:
        SpecError: with what is wrong with the spec.
        Refusal: when numpy is missing, or it is not clear which model answered.
    """
    bodies, files = _invocation()
    config = None if options.spec is None else _answering(options)
    content = options.read.read_bytes()
    try:
        arrays = bodies.read_answer(content, options.content_type)
        _show(arrays, "")
        bodies.read_answer(content, options.content_type, config)
        if options.out is not None:
            files.write_arrays(arrays, options.out)
    except bodies.BodyError as error:
        return _refused(error.problems)
    return 0


def _answering(options: argparse.Namespace) -> Any:
    """The configuration of the model that gave an answer."""
    model = _asked_by(load_to_look_at(options.spec, stage=options.stage).spec, options, "the answer").model
    if not model.config.output:
        raise Refusal(f"{model.name} declares no outputs: omit the SPEC to read the answer as it is")
    return model.config


def _invocation() -> tuple[ModuleType, ModuleType]:
    """The modules for bodies and answers, and for files of arrays; both need numpy."""
    try:
        from inferstack.triton import invocation  # noqa: PLC0415 - brings numpy
    except ImportError as error:
        raise Refusal(str(error)) from None
    from inferstack.triton import array_files  # noqa: PLC0415 - brings numpy

    return invocation, array_files


def _refused(problems: tuple[str, ...]) -> int:
    for problem in problems:
        tell(f"inferstack: {printable(problem)}")
    return 1


def _asked_by(spec: ModelSpec, options: argparse.Namespace, what: str) -> AskedTriton:
    return asked_model(spec, chosen_by(options), options.spec.parent, options.target_model, what)


def asked_model(
    spec: ModelSpec, chosen: Choice, folder: Path, target_model: str | None, what: str
) -> AskedTriton:
    """The model to ask: the only one, or the chosen one. A request does not choose on which instance type a
    component runs, and variants share the requests: then one request has to fit all of their models.

    Args:
        spec: the spec of the endpoint.
        chosen: the component or model that is asked.
        folder: that of the spec file.
        target_model: the archive of a multi-model endpoint.
        what: what the model is looked for, such as "the request".

    Raises:
        Refusal: when it is not clear which model is meant.
    """
    choice = only_one(spec) if chosen == ALL else chosen
    blocks = blocks_of(spec, choice)
    if not blocks:
        raise Refusal("no inputs and outputs are declared there: add them in a `triton` block")
    if choice == ALL and components(spec):
        blocks = [only_block(spec, blocks, what)]
        choice = Choice(component=next(iter(loading(spec, blocks[0])), None))
    first, *others = (_asked_at(block, choice, folder, target_model) for block in blocks)
    if any(_interface(it.model) != _interface(first.model) for it in others):
        archives = listed([it.repository.archive for it in (first, *others)], last="and")
        who = spec.endpoint_name if choice.component is None else choice.component
        differ = "which differ in their inputs or outputs, so no request fits all"
        fix = "" if components(spec) else "; add --model to ask one of them"
        raise Refusal(f"`{who}` runs {archives}, {differ}{fix}")
    return first


def _asked_at(block: PlacedTriton, choice: Choice, folder: Path, target_model: str | None) -> AskedTriton:
    repository = _repository(block, folder, target_model)
    target = repository.archive if block.multi_model else None
    return AskedTriton(_model(block, repository), repository, choice, target)


def _interface(model: TritonModel) -> tuple[Any, ...]:
    return model.config.max_batch_size, [*model.config.input], [*model.config.output]


def _repository(block: PlacedTriton, folder: Path, target_model: str | None) -> Repository:
    repositories = {one.archive: one for one in repositories_at(block, folder)}
    if not block.multi_model:
        if target_model is not None:
            raise Refusal("--target-model is only for multi-model endpoints")
        return next(iter(repositories.values()))
    if target_model is None and len(repositories) == 1:
        return next(iter(repositories.values()))
    if target_model not in repositories:
        what = "name the archive to ask" if target_model is None else f"no `{target_model}`"
        raise Refusal(f"--target-model: {what}; {choose(target_model or '', list(repositories))}")
    return repositories[target_model]


def _model(block: PlacedTriton, repository: Repository) -> TritonModel:
    """The model that answers, according to the container's environment or the repository."""
    set_to = (set_variable(loader.environment, DEFAULT_MODEL) for loader in block.loaders)
    model = repository.served(next(filter(None, set_to), None))
    if model is None:
        raise Refusal(f"it is not clear which model of {repository.archive} answers: add `default_model`")
    return model


def _show(arrays: Any, margin: str) -> None:
    from inferstack.triton.arrays import type_of  # noqa: PLC0415 - brings numpy

    for name, array in arrays.items():
        first = ", ".join(_value(it) for it in array.ravel()[:_SHOWN].tolist())
        more = ", …" if array.size > _SHOWN else ""
        print(f"{margin}{printable(name)} {type_of(array)} {list(array.shape)} = {first}{more}")


def _value(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode(errors="backslashreplace")
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
