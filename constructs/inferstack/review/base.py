"""What a change is compared with: templates, a folder of specs, or a git revision, all of them as templates.

The specs of a base are rendered by this version of inferstack, and by the base's own where its program is
given. What both make of them is what the new version of the library changes.
"""

import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from inferstack.check.files import is_folder, spec_files
from inferstack.check.load import LoadedSpec, check_document
from inferstack.problems import FilePlace, Problem, SpecError, dotted
from inferstack.problems.file_codes import NO_BASE
from inferstack.problems.words import listed
from inferstack.resolve.template import Template, resolve_template
from inferstack.review.templates import PATTERNS, PreviousTemplate, read_folder, read_template
from inferstack.source.document import read_document
from inferstack.source.spec_file import name_in_templates

_REQUIREMENTS = "requirements.txt"
_FIX = "name a template, a folder of templates or specs, or a commit, branch or tag of git"


class BaseStack(msgspec.Struct, frozen=True):
    """A template of the base."""

    template: PreviousTemplate
    spec: str | None = None
    """The spec file that made it, as it is called under review; None for templates from elsewhere."""
    is_staged: bool = False
    """Whether it is known for which stage it was made."""
    stage: str | None = None
    by_this_version: PreviousTemplate | None = None
    """What this version makes of the same spec, if another one made the template."""
    account: str | None = None
    """The account that it was made for; None if that is not known."""
    region: str | None = None
    """The region that it was made for; None if that is not known."""

    def is_in(self, one: LoadedSpec) -> bool:
        """Whether it is known to be where a spec goes."""
        return (self.account, self.region) == (one.spec.account, one.spec.region)

    def delete_command(self, stack: str) -> str:
        """The command that deletes the stack, given by its name."""
        where = "" if self.region is None else f" --region {self.region}"
        return f"aws cloudformation delete-stack --stack-name {stack}{where}"


class Base(msgspec.Struct, frozen=True):
    """Everything that a change is compared with."""

    title: str
    stacks: tuple[BaseStack, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    is_folder: bool = True
    """False for a single template, which a single spec is compared with whatever its name."""
    wrong: frozenset[str] = frozenset()
    """The spec files with errors, as they are called under review: what they made is not known."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What of a base is asked for: the same paths, stage and region as those of the specs under review."""

    paths: tuple[Path, ...]
    stage: str | None = None
    region: str | None = None
    program: str | None = None
    """The inferstack of the base's own version."""


def read_base(base: Path | str, asked: Question) -> Base:
    """Reads what a change is compared with. A path comes before a revision with the same name.

    Raises:
        SpecError: when it is neither, or cannot be read.
    """
    path = Path(base)
    if path.is_file():
        return Base(path.as_posix(), (_of_template(read_template(path)),), is_folder=False)
    if not path.is_dir():
        return _of_revision(str(base), asked)
    if any(True for form in PATTERNS for _ in path.glob(f"**/{form}")):
        templates, problems = read_folder(path)
        return Base(path.as_posix(), tuple(map(_of_template, templates)), tuple(problems))
    return _of_folder(path, asked)


def _of_template(template: PreviousTemplate) -> BaseStack:
    return BaseStack(template, account=template.account, region=template.region)


def _unknown(base: str, why: str) -> SpecError:
    return SpecError([Problem(FilePlace(base), why, _FIX, NO_BASE)])


# ---------------------------------------------------------------- specs


class _SpecFile(msgspec.Struct, frozen=True):
    """A spec file of the base, and what it is called under review."""

    file: Path
    name: str


def _of_folder(folder: Path, asked: Question) -> Base:
    """A folder of specs stands for the folder under review, whatever both are called."""
    first = next((it for it in asked.paths if is_folder(it)), asked.paths[0].parent)
    files = [_SpecFile(it, name_in_templates(str(first / it.name))) for it in spec_files(folder)]
    title = folder.as_posix()
    return _rendered(title, files, folder, asked)


def _rendered(title: str, files: Sequence[_SpecFile], folder: Path, asked: Question) -> Base:
    """The stacks that the specs make; ``folder`` is where another version would render them."""
    stacks: list[BaseStack] = []
    errors: dict[str, Problem] = {}
    for one in files:
        try:
            made, problems = check_document(read_document(one.file), stage=asked.stage, region=asked.region)
        except SpecError as error:
            made, problems = [], list(error.problems)
        stacks += [_stack(title, one, it) for it in made]
        wrong = next((it for it in problems if it.severity == "error"), None)
        if wrong is not None:
            errors[one.name] = wrong
    notes = (f"{title}: {name} has errors, such as {it.code}: not compared" for name, it in errors.items())
    base = Base(title, tuple(stacks), notes=tuple(notes), wrong=frozenset(errors))
    return base if asked.program is None else _by_program(asked.program, base, files, folder, asked)


def _stack(title: str, one: _SpecFile, loaded: LoadedSpec) -> BaseStack:
    region = loaded.spec.region
    made = resolve_template(loaded.spec, region=region, source_of=lambda path: f"{one.name}: {dotted(path)}")
    at = "" if loaded.stage is None else f" ({loaded.stage})"
    template = _template(f"{title}:{one.name}{at}", made)
    return BaseStack(
        template,
        spec=one.name,
        is_staged=True,
        stage=loaded.stage,
        account=loaded.spec.account,
        region=template.image_region if region is None else region,
    )


def _template(file: str, made: Template) -> PreviousTemplate:
    return PreviousTemplate(file, made["Resources"], made)


# ---------------------------------------------------------------- rendered by the base's own version


def _by_program(program: str, base: Base, files: Sequence[_SpecFile], folder: Path, asked: Question) -> Base:
    """The base as its own version of inferstack renders it, beside what this one makes."""
    stacks: list[BaseStack] = []
    notes = list(base.notes)
    for stage in dict.fromkeys(it.stage for it in base.stacks):
        now = [it for it in base.stacks if it.stage == stage]
        names = {it.spec for it in now}
        chosen = [it.file for it in files if it.name in names]
        try:
            then = _render(program, chosen, folder, stage, asked.region)
        except OSError as error:
            raise _unknown(program, f"the program cannot be run: {error.strerror}") from None
        except _NotRenderedError as error:
            notes.append(f"{base.title}: its own version could not render it: {error}")
            then = {}
        else:
            lacking = [it.spec or "" for it in now if it.template.endpoint_name not in then]
            if lacking:
                of = listed(lacking, last="and", quote="")
                notes.append(f"{base.title}: its own version made no template of {of}")
        stacks += [_with_own_version(it, then.get(it.template.endpoint_name)) for it in now]
    return msgspec.structs.replace(base, stacks=tuple(stacks), notes=tuple(notes))


class _NotRenderedError(Exception):
    """Says why another version made no templates."""


def _render(
    program: str, files: Iterable[Path], folder: Path, stage: str | None, region: str | None
) -> dict[str | None, PreviousTemplate]:
    """What a program makes of specs, by the name of the endpoint."""
    # Relative to the folder: what templates say about where they come from must not name a temporary one.
    names = [file.relative_to(folder).as_posix() for file in files]
    options = [*(("--stage", stage) if stage else ()), *(("--region", region) if region else ())]
    with TemporaryDirectory() as out:
        # Its path, since it runs in another folder.
        command = [str(Path(program).absolute()) if Path(program).exists() else program, "render"]
        ran = subprocess.run(
            [*command, *names, *options, "--out", out],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if ran.returncode:
            raise _NotRenderedError((ran.stderr.strip() or "no reason given").splitlines()[0])
        return {it.endpoint_name: it for it in read_folder(Path(out))[0]}


def _with_own_version(now: BaseStack, then: PreviousTemplate | None) -> BaseStack:
    if then is None:
        return now
    own = PreviousTemplate(now.template.file, then.resources, then.sections)
    return msgspec.structs.replace(now, template=own, by_this_version=now.template)


# ---------------------------------------------------------------- git


def _of_revision(revision: str, asked: Question) -> Base:
    top = Path(_git(revision, "rev-parse", "--show-toplevel", folder=Path.cwd()).decode().strip())
    commit = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    found = _git(revision, *commit, folder=top).decode().strip()
    with _checked_out(found, top) as folder:
        files = list(_files_of(asked.paths, top, folder))
        base = _rendered(revision, files, folder, asked)
        other = _text(top / _REQUIREMENTS) != _text(folder / _REQUIREMENTS)
    if other and asked.program is None:
        note = (
            f"{revision} has another {_REQUIREMENTS}: what its version of inferstack makes of the specs is "
            "only known with --base-program"
        )
        return msgspec.structs.replace(base, notes=(*base.notes, note))
    return base


def _git(revision: str, *arguments: str, folder: Path) -> bytes:
    try:
        ran = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise _unknown(revision, f"there is no such path, and git cannot be run: {error.strerror}") from None
    if ran.returncode:
        raise _unknown(revision, "this is neither a path nor a git revision that is known here")
    return ran.stdout


@contextmanager
def _checked_out(commit: str, top: Path) -> Iterator[Path]:
    """All files of a commit in a temporary folder: specs name files of models beside them."""
    with TemporaryDirectory() as place:
        archive = Path(place) / "archive.tar"
        _git(commit, "archive", "--format=tar", f"--output={archive}", commit, folder=top)
        folder = Path(place).resolve() / "tree"
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter=_inside)
        archive.unlink()
        yield folder


def _inside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """The member, unless it is a link that leads out of the folder: no spec can need that."""
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _files_of(paths: Iterable[Path], top: Path, folder: Path) -> Iterator[_SpecFile]:
    """The spec files that were at these paths; none where there were none."""
    for path in paths:
        if not path.resolve().is_relative_to(top.resolve()):
            continue
        there = folder / path.resolve().relative_to(top.resolve())
        try:
            found = spec_files(there)
        except SpecError:
            continue
        for file in found:
            if file.is_file():
                name = path / file.name if is_folder(there) else path
                yield _SpecFile(file, name_in_templates(str(name)))


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None
