"""The state of KMS keys: those that the spec names, and those that encrypt its files.

https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
"""

from collections.abc import Iterator, Sequence

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import DESCRIBE_KEY
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    open_arn,
    problem,
)
from inferstack.facts.role import file_keys, storage_keys, volume_keys
from inferstack.resolve.images import key_arn
from inferstack.texts.arns import arn_fields
from inferstack.texts.placeholders import is_settled

_UNUSABLE = {
    "Disabled": "enable it: `aws kms enable-key --key-id {}`",
    "PendingDeletion": "keep it: `aws kms cancel-key-deletion --key-id {}`, then enable it",
    "PendingReplicaDeletion": "name another key",
    "PendingImport": "import its key material",
    "Unavailable": "connect its key store",
}


def keys(targets: Sequence[Target]) -> Iterator[Subject]:
    """The keys that specs name."""
    for target in targets:
        spec = target.spec
        for path, key in (*volume_keys(spec), *storage_keys(spec), *file_keys(spec)):
            yield Subject(target, path, target.filled(key))


def is_usable(subject: Subject, asking: Asking) -> Checked:
    """Whether a key is enabled."""
    key: str = subject.what
    return state_of_key(key, asking) if is_settled(key) else only_deployment_knows(key)


def state_of_key(key: str, asking: Asking) -> Checked:
    """Whether a key, by its id, its ARN or an alias, is enabled."""
    fields = arn_fields(key)
    region = fields[3] if key.startswith("arn:") else asking.region
    found = asking.ask(DESCRIBE_KEY, region=region, KeyId=key)
    if found is None:
        return problem(f"there is no key {key} in {region}", "correct its name, or create it there")
    state = found["KeyMetadata"]["KeyState"]
    if state == "Enabled":
        return ok(f"{key} is enabled")
    if state in _UNUSABLE:
        return problem(f"the key {key} is not usable: its state is {state}", _UNUSABLE[state].format(key))
    return cannot_tell(f"the state of the key {key} is {state}", "wait, then run the command again")


def key_rights(subject: Subject) -> Iterator[Right]:
    """Looking at the key. For an alias, IAM asks for a right to the key that it means."""
    arn, _ = key_arn(subject.what)
    yield DESCRIBE_KEY, arn_of_key(arn, subject.target)


def arn_of_key(arn: str, target: Target) -> str:
    """The ARN of a key, with account and region in it."""
    *_, name = arn_fields(target.filled(arn))
    return target.arn("kms", name) if not arn.startswith("arn:") or "${AWS::" in arn else open_arn(arn)
