"""Puts the versions that a spec's model packages stand for into the spec.

From then on, the spec is as if it had named the package's ARN: rules, role and template see no difference.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from inferstack.check.lock import MALFORMED, NOT_PINNED
from inferstack.check.lock.applying import with_value_at
from inferstack.check.lock.file import FoundLock, Pin, line_of_key, lock_path
from inferstack.facts.walk import model_containers
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import ModelPackage
from inferstack.problems import FilePlace, Problem, SpecPath
from inferstack.source.document import IN_PYTHON, Document
from inferstack.texts.arns import arn_fields
from inferstack.texts.placeholders import is_opaque

LATEST = "latest-approved"


class Pinned(NamedTuple):
    """A spec whose model packages have names; ``problems`` are about those that the lock cannot name.

    ``document`` knows that the file has another key in place of a name.
    """

    spec: ModelSpec
    document: Document
    problems: tuple[Problem, ...]


class WantedPackage(NamedTuple):
    """A model package of a spec, and the path of the container that it is for."""

    path: SpecPath
    package: ModelPackage

    @property
    def key(self) -> str:
        """The key in a lock: what the spec writes."""
        return f"{self.package.group}/{self.package.version}"


def wanted_packages(spec: ModelSpec) -> tuple[WantedPackage, ...]:
    """The model packages that a spec names by group and version."""
    return tuple(
        WantedPackage(path, container.model_package)
        for path, _, container in model_containers(spec)
        if container.model_package is not None
    )


def with_pins_applied(spec: ModelSpec, document: Document, stage: str | None, found: FoundLock) -> Pinned:
    """The spec with the ARNs of its model packages. A version that the lock does not have goes by its name;
    without a version, there is a problem.
    """
    pins = {} if found.lock is None else found.lock.pins_of(stage)
    problems: list[Problem] = []
    written_as: dict[SpecPath, SpecPath] = {}
    for wanted in wanted_packages(spec):
        container = next(it for path, _, it in model_containers(spec) if path == wanted.path)
        if container.model_package_name is not None:
            # A rule refuses both.
            continue
        pin = pins.get(wanted.key)
        if not found.ignored:
            problems += _problems(wanted, pin, document, stage)
        name = named(wanted.package) if pin is None else pin.arn
        named_one = replace(container, model_package=None, model_package_name=name)
        spec = with_value_at(spec, wanted.path, named_one)
        written_as[*wanted.path, "model_package_name"] = (*wanted.path, "model_package")
    known = replace(document, written_as=written_as) if written_as else document
    return Pinned(spec, known, tuple(problems))


def named(package: ModelPackage) -> str:
    """The name of a version, or of the group if any may be meant: in AWS's words, without a version.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeModelPackage.html
    """
    group = package.group.replace(":model-package-group/", ":model-package/", 1)
    return group if package.version == LATEST else f"{group}/{package.version}"


# ---------------------------------------------------------------- What is wrong


def _problems(
    wanted: WantedPackage, pin: Pin | None, document: Document, stage: str | None
) -> Iterator[Problem]:
    path = (*wanted.path, "model_package")
    if pin is not None:
        yield from _of_another(wanted, pin, document)
    elif wanted.package.version == LATEST:
        where = "" if stage is None else f" for the stage `{stage}`"
        message = f"no version of {wanted.package.group} is pinned{where}"
        yield document.problem((*path, "version"), NOT_PINNED, message, _fix(wanted, document, stage))


def _fix(wanted: WantedPackage, document: Document, stage: str | None) -> str:
    if is_opaque(wanted.package.group):
        return "write the group's name: one that only the deployment knows cannot be pinned"
    if document.file == IN_PYTHON:
        return "write the version's number: a spec made in Python has no lock"
    chosen = "" if stage is None else f" --stage {stage}"
    return f"run `inferstack pin {document.file}{chosen}`, and commit {lock_path(document.file).name}"


def _of_another(wanted: WantedPackage, pin: Pin, document: Document) -> Iterator[Problem]:
    """A pin that is not a version of what the spec names."""
    if _is_of(pin, wanted.package):
        return
    path = lock_path(document.file)
    at = line_of_key((wanted.key, "arn"), path.read_text(encoding="utf-8"))
    message = f"{pin.arn} is not what {wanted.key} stands for"
    fix = "restore it from version control; pins are never edited by hand"
    yield Problem(FilePlace(path.as_posix(), at), message, fix, MALFORMED)


def _is_of(pin: Pin, package: ModelPackage) -> bool:
    *place, name = arn_fields(pin.arn)
    *asked, group = arn_fields(package.group)
    group = group.rpartition("/")[2]
    # AWS may write a group's name in lower case.
    same_name = name.casefold() == f"model-package/{group}/{pin.version}".casefold() or is_opaque(group)
    places = zip(asked, place, strict=False)
    same_place = all(one == other or "${" in one for one, other in places)
    return same_name and same_place and package.version in (LATEST, pin.version)
