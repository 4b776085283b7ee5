"""``inferstack package``: packs model archives and uploads them, or inspects archives.

Problems go to standard error while packing, where they stop the work, and to standard output with
``--check``, where they are the result. A spec without a ``triton`` block has nothing to pack, which is not an
error: when all specs of a folder are packed, some may have none.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from inferstack.account.bucket import (
    ALGORITHMS,
    S3_KEY,
    Encryption,
    S3Place,
    archives_under,
    client_for,
    is_key,
    s3_place,
)
from inferstack.account.checksums import Archive
from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.keys import advice
from inferstack.account.upload import upload
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.check.lock.destinations import Destination, destinations_of
from inferstack.check.lock.differences import locked_archive, repositories_for
from inferstack.check.lock.file import Upload, Uploads, lock_of, lock_path, upload_of, with_uploads
from inferstack.cli.archives import block_for, file_place, inspected, problems_of
from inferstack.cli.choice import Choice, chosen_by
from inferstack.cli.editing import edit_lock
from inferstack.cli.report import tally, text
from inferstack.cli.terminal import Refusal, bar, tell, termination_interrupts
from inferstack.facts.triton import triton_blocks
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, Severity, printable
from inferstack.problems.words import counted
from inferstack.source.spec_file import PIPED
from inferstack.triton.archive.inspection import Inspection
from inferstack.triton.archive.packing import Packed, pack, unpacked_size
from inferstack.triton.archive.plan import LeftOut, Plan, plan_archives
from inferstack.triton.archive.reading import FOLDER
from inferstack.triton.repositories import repositories_of

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
    upload_ = "upload the archives to where SPEC expects them in S3, and record them in its lock"
    add("--upload", action="store_true", help=upload_)
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
        return _check(options.check, loaded, chosen_by(options), multi_model=options.multi_model)
    if loaded is not None:
        _make(loaded, options)
    return 0


def _wrong_usage(options: argparse.Namespace) -> Iterator[str]:
    """Options that cannot be used together; but first, whether there is anything to do at all."""
    if options.spec is None and options.check is None:
        yield "name a SPEC to pack, or archives with --check"
    if options.upload and options.check is not None:
        yield "--upload packs SPEC itself and cannot be used with --check"
    if options.spec == Path(PIPED) and options.check is None:
        if options.upload:
            yield "--upload needs a spec file, since it writes a lock next to it"
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
        instead = "--sse is not given" if sse is None else f"--sse {sse} uses S3's own key"
        yield f"--sse-kms-key-id needs --sse aws:kms or aws:kms:dsse, but {instead}"


# ---------------------------------------------------------------- packing what a spec declares


def _make(loaded: LoadedSpec, options: argparse.Namespace) -> None:
    """Packs what a spec declares, and uploads it if that is wanted.

    Raises:
        SpecError: with every file that cannot be packed, or what is wrong with the lock; then nothing is
        written. Refusal: when an archive would be packed into itself, or the account does not allow it.
    """
    if loaded.warnings:
        tell(text(loaded.warnings, sys.stderr).rstrip("\n"))
    if not any(triton_blocks(loaded.spec)):
        tell(f"{options.spec}: nothing to package: the spec has no `triton` block")
        return
    out = _OUT / options.spec.stem if options.out is None else options.out
    destinations = destinations_of(loaded.spec, loaded.document) if options.upload else ()
    plans = _plans(loaded, out, (options.spec.parent, *options.allow))
    if options.upload:
        _make_and_upload(loaded, plans, destinations, out, options)
        return
    with termination_interrupts():
        for plan in plans:
            _pack(plan, out)


def _plans(loaded: LoadedSpec, out: Path, allowed: Sequence[Path]) -> tuple[Plan, ...]:
    """The archives of a spec that are to be written to ``out``, with every file looked at. Files come from
    the allowed folders, of which the first is the spec's own.
    """
    locate = partial(file_place, loaded.document)
    plans = plan_archives(repositories_of(loaded.spec, allowed[0]), allowed, locate)
    # An archive of the last run would make the new one grow with each run.
    targets = {(out / plan.archive).resolve() for plan in plans}
    for plan in plans:
        for file in plan.local_files:
            if file.path.resolve() in targets:
                raise Refusal(f"{file.path} would be packed into itself; choose another folder with --out")
    return plans


def _pack(plan: Plan, out: Path) -> Packed:
    """Packs an archive, and describes it on standard output."""
    target = out / plan.archive
    with bar(target.name, unpacked_size(plan)) as progress:
        packed = pack(plan, target, progress)
    contents = [(entry.name, None if entry.is_folder else entry.size) for entry in plan.entries]
    print(described(packed, contents, plan.left_out), end="", flush=True)
    return packed


# ---------------------------------------------------------------- uploading it
#
#     look at everything -> pack -> upload -> lock
#
# The lock comes last, so it never names anything missing. After an interruption, run the command again: what
# is already uploaded is recognized by its digest.


class _Target(msgspec.Struct, frozen=True):
    """Where archives go: the URL as the spec writes it, and what it means in the account."""

    destination: Destination
    connection: Connection
    account: str | None
    client: Any

    def place(self, url: str) -> S3Place:
        return s3_place(url, self.connection, account=self.account)


class _Delivery(msgspec.Struct, frozen=True):
    """Archives for a target by their names there, with their future and present entries in the lock."""

    target: _Target
    packed: Mapping[str, Packed]
    upload: Upload
    before: Upload | None

    def place(self, name: str) -> S3Place:
        return self.target.place(self.upload.url_of(name))

    def former(self, packed: Packed) -> S3Place | None:
        """Where the same archive was uploaded before, under any name."""
        if self.before is None:
            return None
        same = (name for name, it in self.before.archives.items() if it.sha256 == packed.file_sha256)
        name = next(same, None)
        return None if name is None else self.target.place(self.before.url_of(name))


def _make_and_upload(
    loaded: LoadedSpec,
    plans: Iterable[Plan],
    destinations: Iterable[Destination],
    out: Path,
    options: argparse.Namespace,
) -> None:
    spec: Path = options.spec
    if not os.access(spec.parent, os.W_OK):
        # Said before hours of work are lost.
        raise Refusal(f"{lock_path(spec)} cannot be written: its folder is read-only")
    by_archive = {plan.archive: plan for plan in plans}
    before = lock_of(spec).of(loaded.stage)
    encryption = Encryption(options.sse, options.sse_kms_key_id)
    try:
        with termination_interrupts():
            targets = list(_targets(destinations, loaded.spec))
            for target in targets:
                if target.destination.location not in before:
                    _tell_of_strangers(target, by_archive)
            packed = {archive: _pack(plan, out) for archive, plan in by_archive.items()}
            deliveries = [_delivery(target, by_archive, packed, spec.parent, before) for target in targets]
            keys = {key: place for delivery in deliveries for key, place in _delivered(delivery, encryption)}
            uploads = {it.target.destination.location: it.upload for it in deliveries}
            edit_lock(
                spec, lambda lock, stages: with_uploads(lock, uploads, stage=loaded.stage, stages=stages)
            )
            for key, place in keys.items():
                note = advice(key, loaded.spec, targets[0].connection)
                if note is not None:
                    tell(f"note: {place} is encrypted with {key}; {note.text}")
    except AccountError as error:
        raise Refusal(str(error)) from None


def _targets(destinations: Iterable[Destination], spec: ModelSpec) -> Iterator[_Target]:
    region, account = spec.region, spec.account
    connection = connect(region)
    clients: dict[str, Any] = {}
    for destination in destinations:
        bucket = s3_place(destination.location, connection, account=account).bucket
        if bucket not in clients:
            clients[bucket] = client_for(bucket, connection, region=region)
        yield _Target(destination, connection, account, clients[bucket])


def _tell_of_strangers(target: _Target, archives: Iterable[str]) -> None:
    """Points out others' archives under a prefix: an endpoint that reads from a folder in it misses them."""
    location = target.destination.location
    if not location.endswith("/"):
        return
    place = target.place(location)
    strangers = sorted({*archives_under(place, target.client)} - {*archives})
    if strangers:
        more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
        tell(
            f"note: {strangers[0]}{more} under {place} did not come from this spec; an endpoint "
            "deployed with its lock will not find such archives: declare them, or do without a lock"
        )


def _delivery(
    target: _Target, plans: Mapping[str, Plan], packed: Mapping[str, Packed], base: Path, before: Uploads
) -> _Delivery:
    """What belongs to one destination; ``plans`` and what was ``packed`` of them are keyed by archive."""
    location = target.destination.location
    archives = {name: it.archive for name, it in repositories_for(target.destination, base).items()}
    locked = {name: locked_archive(plans[it], packed[it], base) for name, it in archives.items()}
    by_name = {name: packed[it] for name, it in archives.items()}
    return _Delivery(target, by_name, upload_of(location, locked), before.get(location))


def _delivered(delivery: _Delivery, encryption: Encryption) -> Iterator[tuple[str, S3Place]]:
    """Uploads what belongs to one destination; gives each KMS key that encrypts it, and where."""
    client = delivery.target.client
    for name, packed in delivery.packed.items():
        place, former = delivery.place(name), delivery.former(packed)
        archive = Archive(packed.path, packed.size, packed.file_sha256)
        with bar(f"{archive.path} to {place.bucket}", archive.size) as progress:
            stored = upload(client, archive, place, progress, encryption, former)
        print(f"{place}\n  {stored.outcome}", flush=True)
        if stored.key is not None:
            yield stored.key, place


# ---------------------------------------------------------------- inspecting archives


def _check(archives: Iterable[Path], loaded: LoadedSpec | None, choice: Choice, *, multi_model: bool) -> int:
    """Inspects archives without unpacking them; prints their contents and what is wrong with them.

    With a spec, an archive is judged as the spec's endpoint would load it, or as the chosen component or
    model would (or the one that its path names); without a spec, as ``multi_model`` says.

    Raises:
        Refusal: before any archive is read, if it is not clear what one is for.
    """
    of_archives: list[list[Problem]] = []
    blocks = [(it, None if loaded is None else block_for(it, loaded.spec, choice)) for it in archives]
    for archive, block in blocks:
        inspection = inspected(archive, multi_model=multi_model if block is None else block.multi_model)
        problems = list(problems_of(inspection, loaded, block))
        print(_described_members(inspection), text(problems, sys.stdout), sep="", end="", flush=True)
        of_archives.append(problems)
    wrong = [problems for problems in of_archives if problems]
    count = counted(len(of_archives), "archive")
    tell(f"{tally([*chain(*wrong)])} in {len(wrong)} of {count}" if wrong else f"{count}: no problems")
    return int(any(problem.severity is Severity.ERROR for problem in chain(*wrong)))


def _described_members(inspection: Inspection) -> str:
    if inspection.packed is None:
        return ""
    members = [(it.name, None if it.kind == FOLDER else it.size) for it in inspection.members]
    return described(inspection.packed, members)


# ---------------------------------------------------------------- an archive in words

_MOST_SHOWN = 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB")

Content = tuple[str, int | None]
"""A path and its size in bytes, None for a folder."""


def described(packed: Packed, contents: Sequence[Content], left_out: Iterable[LeftOut] = ()) -> str:
    """The lines that describe an archive, each with its line break. Only empty folders are shown."""
    exact, rounded = f"{packed.size} bytes", _in_units(packed.size)
    lines = [
        str(packed.path),
        f"  size     {exact if exact == rounded else f'{exact} ({rounded})'}",
        f"  sha256   {packed.file_sha256}",
        f"  content  {packed.tar_sha256}",
        "           (sha256 of the tar inside, whatever its compression)",
        *_inside(contents),
        *(f"  left out {left.name} ({left.reason})" for left in left_out),
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _inside(contents: Sequence[Content]) -> list[str]:
    full = _full_folders(name for name, _ in contents)
    shown = [(name, size) for name, size in contents if size is not None or name not in full]
    sizes = ["empty folder" if size is None else _in_units(size) for _, size in shown[:_MOST_SHOWN]]
    width = max(map(len, sizes), default=0)
    lines = [f"    {size:>{width}}  {name}" for size, (name, _) in zip(sizes, shown, strict=False)]
    more = len(shown) - _MOST_SHOWN
    return ["  holds", *lines, *([f"    and {more} more"] if more > 0 else [])]


def _full_folders(names: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _in_units(size: int) -> str:
    """Bytes as a person reads them: ``1.5 GB``, in powers of 1000."""
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
