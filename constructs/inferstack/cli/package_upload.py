"""``inferstack package SPEC --upload``: puts the archives of a spec where its endpoint loads them from.

    look at everything -> pack -> upload -> lock

The lock comes last, so it never names anything missing. After an interruption, run the command again: what is
already uploaded is recognized by its digest.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inferstack.account.bucket import Encryption, S3Place, archives_under, client_for, s3_place
from inferstack.account.checksums import Archive
from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.keys import advice
from inferstack.account.upload import Stored, upload
from inferstack.check.load import LoadedSpec
from inferstack.check.lock.destinations import Destination, destinations_of
from inferstack.check.lock.differences import locked_archive, repositories_for
from inferstack.check.lock.file import (
    EMPTY,
    Lock,
    Upload,
    Uploads,
    lock_path,
    read_lock,
    upload_of,
    with_uploads,
)
from inferstack.check.lock.update import update_lock
from inferstack.cli.package_archives import has_nothing_to_pack, packed, plans_for
from inferstack.cli.terminal import Refusal, bar, tell, termination_interrupts
from inferstack.format.kinds import ModelSpec
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names
from inferstack.triton.archive.packing import Packed
from inferstack.triton.archive.plan import Plan


class _Target(msgspec.Struct, frozen=True):
    """Where archives go: the URL as the spec writes it, and what it means in the account."""

    destination: Destination
    connection: Connection
    account: str | None
    client: Any
    encryption: Encryption

    def place(self, url: str) -> S3Place:
        return s3_place(url, self.connection, account=self.account)


class _Load(msgspec.Struct, frozen=True):
    """Archives for a target by their names there, with their future and present entries in the lock."""

    target: _Target
    packed: Mapping[str, Packed]
    upload: Upload
    before: Upload | None

    def place(self, name: str) -> S3Place:
        return self.target.place(self.upload.url_of(name))

    def former(self, made: Packed) -> S3Place | None:
        """Where the same archive was uploaded before, under any name."""
        if self.before is None:
            return None
        same = (name for name, it in self.before.archives.items() if it.sha256 == made.file_sha256)
        name = next(same, None)
        return None if name is None else self.target.place(self.before.url_of(name))


def make_and_upload(
    loaded: LoadedSpec, spec: Path, out: Path, allowed: Iterable[Path], encryption: Encryption
) -> int:
    """Packs what a spec declares into ``out``, uploads it, and writes the spec's lock.

    Raises:
        SpecError: with every file that cannot be packed, or what is wrong with the lock; then nothing is
        done. Refusal: when the account does not allow it.
    """
    if has_nothing_to_pack(loaded, spec):
        return 0
    destinations = destinations_of(loaded.spec, loaded.document)
    plans = {plan.archive: plan for plan in plans_for(loaded, spec, out, allowed)}
    before = _lock_of(spec).of(loaded.stage)
    try:
        with termination_interrupts():
            targets = list(_targets(destinations, loaded, encryption))
            for target in targets:
                if target.destination.location not in before:
                    _tell_of_strangers(target, plans.keys())
            made = dict(zip(plans, packed(plans.values(), out), strict=True))
            loads = [_load_for(target, plans, made, spec.parent, before) for target in targets]
            keys = {key: place for load in loads for key, place in _sent(load)}
            _write_lock({it.target.destination.location: it.upload for it in loads}, spec, loaded.stage)
            _tell_of_keys(keys, loaded.spec, targets[0].connection)
    except AccountError as error:
        raise Refusal(str(error)) from None
    return 0


def _lock_of(spec: Path) -> Lock:
    """The present lock. One that cannot be rewritten is refused here, before hours of work are lost."""
    if not os.access(spec.parent, os.W_OK):
        raise Refusal(f"{lock_path(spec)} cannot be written: its folder is read-only")
    lock = read_lock(lock_path(spec))
    return EMPTY if lock is None else lock


def _targets(
    destinations: Iterable[Destination], loaded: LoadedSpec, encryption: Encryption
) -> Iterator[_Target]:
    region, account = loaded.spec.region, loaded.spec.account
    connection = connect(region)
    clients: dict[str, Any] = {}
    for destination in destinations:
        bucket = s3_place(destination.location, connection, account=account).bucket
        if bucket not in clients:
            clients[bucket] = client_for(bucket, connection, region=region)
        yield _Target(destination, connection, account, clients[bucket], encryption)


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


def _load_for(
    target: _Target, plans: Mapping[str, Plan], made: Mapping[str, Packed], base: Path, before: Uploads
) -> _Load:
    """What belongs to one destination; ``plans`` and what was ``made`` from them are keyed by archive."""
    location = target.destination.location
    archives = {name: it.archive for name, it in repositories_for(target.destination, base).items()}
    locked = {name: locked_archive(plans[it], made[it], base) for name, it in archives.items()}
    packed = {name: made[it] for name, it in archives.items()}
    return _Load(target, packed, upload_of(location, locked), before.get(location))


def _sent(load: _Load) -> Iterator[tuple[str, S3Place]]:
    """Uploads what belongs to one destination; gives each KMS key that encrypts it, and where."""
    for name, made in load.packed.items():
        place = load.place(name)
        stored = _upload(load.target, made, place, load.former(made))
        if stored.key is not None:
            yield stored.key, place


def _upload(target: _Target, made: Packed, place: S3Place, former: S3Place | None) -> Stored:
    archive = Archive(made.path, made.size, made.file_sha256)
    with bar(f"{made.path} to {place.bucket}", made.size) as progress:
        stored = upload(target.client, archive, place, progress, target.encryption, former)
    print(f"{place}\n  {stored.outcome}", flush=True)
    return stored


def _tell_of_keys(keys: Mapping[str, S3Place], spec: ModelSpec, connection: Connection) -> None:
    for key, place in keys.items():
        found = advice(key, spec, connection)
        if found is not None:
            tell(f"note: {place} is encrypted with {key}; {found}")


def _write_lock(uploads: Uploads, spec: Path, stage: str | None) -> None:
    path = lock_path(spec)
    stages = stage_names(read_document(spec))
    # Read again, since somebody may have uploaded another stage in the meantime.
    if update_lock(spec, lambda before: with_uploads(before, uploads, stage=stage, stages=stages)):
        tell(f"{path}: written; commit it with {spec.name}")
    else:
        tell(f"{path}: unchanged")
