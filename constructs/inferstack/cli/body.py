"""``inferstack body``: requests made from arrays, and answers read into them."""

import argparse
from collections.abc import Iterator
from pathlib import Path


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What can be written after ``inferstack body``."""
    add = command.add_argument
    add("spec", metavar="SPEC", nargs="?", type=Path, help="spec file with the model's inputs and outputs")
    add("--stage", help="choose this stage of the spec")
    component = "ask this inference component; needed where several have Triton models"
    add("--component", metavar="NAME", help=component)
    model = "ask the variant with this model; needed where several differ in inputs or outputs"
    add("--model", metavar="NAME", help=model)
    target = "ask this archive of a multi-model endpoint (TargetModel)"
    add("--target-model", metavar="ARCHIVE", help=target)
    inputs = "NAME=FILE.npy, NAME=FILE.json, or FILE.npz or FILE.json with several by name; can be repeated"
    add("--input", metavar="[NAME=]FILE", type=_input, action="append", default=[], help=inputs)
    parameters = "parameter of the request, such as sequence_id=7; can be repeated"
    add("--parameter", metavar="NAME=VALUE", type=_parameter, action="append", default=[], help=parameters)
    add("--json", action="store_true", help="write the values as JSON; without it they stand behind the JSON")
    read = "read this answer instead; needs --content-type; with SPEC it must have the declared outputs"
    add("--read", metavar="FILE", type=Path, help=read)
    add("--content-type", metavar="TYPE", help="with --read: the answer's content type, as it came")
    out = "the file to write (default: request.bin or request.json); with --read: FILE.npz or FILE.json"
    add("--out", metavar="FILE", type=Path, help=out)
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Make the body of a request from files of arrays, checked against what the model declares; or read an
    answer with --read, and check it if a SPEC is there.
    """
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    from inferstack.cli.body_run import make, read  # noqa: PLC0415 - brings protobuf
    from inferstack.cli.termination import termination_interrupts  # noqa: PLC0415 - the others do without

    with termination_interrupts():
        return make(options) if options.read is None else read(options)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    if options.spec is None and options.read is None:
        yield "name a SPEC to make a request for, or an answer with --read"
    if (options.read is None) != (options.content_type is None):
        yield "--read and --content-type go together"
    if options.read is not None and (options.input or options.parameter or options.json):
        yield "--input, --parameter and --json are for a request, and --read for an answer"
    chosen = {options.stage, options.component, options.model, options.target_model}
    if options.spec is None and chosen != {None}:
        yield "--stage, --component, --model and --target-model choose something in a SPEC"


def _input(written: str) -> tuple[str | None, Path]:
    name, equals, file = written.rpartition("=")
    return (name if equals else None), Path(file)


def _parameter(written: str) -> tuple[str, str | int | bool]:
    name, equals, value = written.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{written} is not NAME=VALUE")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, int(value)
    except ValueError:
        return name, value
