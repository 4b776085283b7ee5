"""``inferstack describe-model``: the small files that describe a model, for `model_config`."""

import argparse
import lzma
import re
import tarfile
import zlib
from pathlib import Path

from inferstack.cli.terminal import Refusal, tell
from inferstack.engines.describing import CannotDescribeError, LocalArchive, LocalFolder, described
from inferstack.problems import printable
from inferstack.texts.s3_urls import s3_url


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    where = "the folder of a model's files, here or as s3://…, or its archive here"
    parser.add_argument("source", metavar="DIR", help=where)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="where to write (default: a folder of the same name in the working directory)",
    )


def run(options: argparse.Namespace) -> int:
    """Write a model's config.json, the size of its weights and what its tokenizer says of its context into a
    small folder, for `model_config` in a spec, with LMI's serving.properties. The weights are not read.
    """
    source: str = options.source
    files = _files_of(source)
    name = source.rstrip("/").rpartition("/")[2]
    target = Path(name.partition(".tar")[0]) if options.output is None else options.output
    if options.output is None and (not target.name or target.exists()):
        raise Refusal(f"{target.as_posix()} exists; choose where to write with --output DIR")
    target.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (target / name).write_text(text, encoding="utf-8")
        print(printable(f"wrote {(target / name).as_posix()}"))
    if not any(name.endswith("index.json") for name in files) and "config.json" in files:
        tell("it has no safetensors files, so the size of its weights is not known")
    return 0


def _files_of(source: str) -> dict[str, str]:
    try:
        return _in_s3(source) if source.startswith("s3:") else _here(source)
    except CannotDescribeError as error:
        raise Refusal(f"{source}: {error}") from None


def _here(source: str) -> dict[str, str]:
    path = Path(source)
    try:
        if path.is_dir():
            return described(LocalFolder(path))
        with tarfile.open(path) as archive:
            return described(LocalArchive(archive))
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError):
        fix = "name that of a model's files, or its s3:// URL"
        if re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", source) and not path.exists():
            fix += (
                f"; `hf download {source} --include '*.json' --local-dir DIR` gets what it needs from the hub"
            )
        raise Refusal(f"{source} is not a folder or an archive; {fix}") from None


def _in_s3(source: str) -> dict[str, str]:
    from inferstack.account.bucket import S3Place  # noqa: PLC0415 - comes with an extra
    from inferstack.account.connection import AccountError, connect  # noqa: PLC0415
    from inferstack.account.model_folder import S3Folder  # noqa: PLC0415

    url = s3_url(source)
    if url is None or url.bucket is None or not url.bucket or "${" in source:
        raise Refusal(f"{source} is not the URL of a folder in S3; write s3://bucket/folder/")
    key = url.key.rstrip("/")
    try:
        return described(S3Folder(S3Place(url.bucket, f"{key}/" if key else ""), connect(None)))
    except AccountError as error:
        raise Refusal(str(error)) from None
