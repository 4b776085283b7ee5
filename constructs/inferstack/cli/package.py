"""``inferstack package``: packs model archives, or inspects them.

Problems go to standard error while packing, where they stop the work, and to standard output with
``--check``, where they are the result. A spec without a ``triton`` block has nothing to pack, which is not an
error: when all specs of a folder are packed, some may have none.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from inferstack.account.bucket import ALGORITHMS, S3_KEY, Encryption, is_key
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.choice import chosen_by
from inferstack.cli.package_archives import check, make
from inferstack.cli.package_upload import make_and_upload
from inferstack.cli.report import text
from inferstack.cli.terminal import tell
from inferstack.source.spec_file import PIPED

_OUT = Path("packages")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack package``."""
    add = command.add_argument
    add("spec", metavar="SPEC", nargs="?", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    out = f"folder for the archives (default: {_OUT}/NAME, NAME from the spec file)"
    add("--out", metavar="DIR", type=Path, help=out)
    allow = "also allow files from this folder, besides the spec's own; can be repeated"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    archives = "pack nothing, inspect these archives; with SPEC, as its endpoint would load them"
    add("--check", metavar="ARCHIVE", nargs="+", type=Path, help=archives)
    upload = "upload the archives to where SPEC expects them in S3, and record them in its lock"
    add("--upload", action="store_true", help=upload)
    sse = "with --upload: how S3 encrypts the archives (default: the bucket's setting)"
    add("--sse", choices=ALGORITHMS, help=sse)
    key = "with --sse aws:kms or aws:kms:dsse: ID, ARN or alias of the key (default: AWS's own for S3)"
    add("--sse-kms-key-id", metavar="KEY", type=_key, help=key)
    component = "with --check: the archives are for this inference component of SPEC"
    add("--component", metavar="NAME", help=component)
    add("--model", metavar="NAME", help="with --check: the archives are for this entry of SPEC's `models`")
    multi = "with --check and no SPEC: the archives are for a multi-model endpoint"
    add("--multi-model", action="store_true", help=multi)
    command.set_defaults(wrong_usage=command.error)


def _key(text: str) -> str:
    if not is_key(text):
        form = "write its ID, its ARN, or an alias such as alias/models"
        raise argparse.ArgumentTypeError(f"{text!r} is not a KMS key; {form}")
    return text


def run(options: argparse.Namespace) -> int:
    """Pack the model archives that a spec declares, or inspect existing archives."""
    for message in _wrong_usage(options):
        options.wrong_usage(message)
    # The lock is ignored, since it says what was packed before.
    loaded = None if options.spec is None else load_spec(options.spec, stage=options.stage, locked=False)
    if options.check is not None:
        return _check(options, loaded)
    return 0 if loaded is None else _make(options, loaded)


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    """Options that cannot be used together; but first, whether there is anything to do at all."""
    if options.spec is None and options.check is None:
        yield "name a SPEC to pack, or archives with --check"
    if options.upload and options.check is not None:
        yield "--upload packs SPEC itself and cannot be used with --check"
    if options.spec == Path(PIPED) and options.check is None:
        if options.upload:
            yield "--upload needs a spec file, since it writes a lock beside it"
        elif options.out is None:
            yield "a spec from standard input has no name for the folder of its archives; add --out DIR"
    if None in (options.spec, options.check):
        for option in ("component", "model"):
            if getattr(options, option) is not None:
                yield f"--{option} needs SPEC and --check"
    sse, key = options.sse, options.sse_kms_key_id
    if not options.upload and (sse, key) != (None, None):
        yield f"{'--sse' if sse is not None else '--sse-kms-key-id'} needs --upload"
    if key is not None and sse in (None, S3_KEY):
        found = "--sse is not given" if sse is None else f"--sse {sse} uses S3's own key"
        yield f"--sse-kms-key-id needs --sse aws:kms or aws:kms:dsse, but {found}"


def _check(options: argparse.Namespace, loaded: LoadedSpec | None) -> int:
    return check(options.check, loaded, chosen_by(options), multi_model=options.multi_model)


def _make(options: argparse.Namespace, loaded: LoadedSpec) -> int:
    if loaded.warnings:
        tell(text(loaded.warnings, sys.stderr).rstrip("\n"))
    out = _OUT / options.spec.stem if options.out is None else options.out
    if not options.upload:
        return make(loaded, options.spec, out, options.allow)
    encryption = Encryption(options.sse, options.sse_kms_key_id)
    return make_and_upload(loaded, options.spec, out, options.allow, encryption)
