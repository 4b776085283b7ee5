"""What a change is compared with: templates, a folder of specs, or a git revision, all of them as templates.

The specs of a base are rendered by this version of inferstack, and by the base's own where its program is
given. What both make of them is what the new version of the library changes.
"""

import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from inferstack.check.files import is_folder, is_gone, spec_files
from inferstack.check.load import LoadedSpec, check_document
from inferstack.check.project_file import read_spec, written_rules
from inferstack.problems import FilePlace, Problem, Severity, SpecError, dotted, in_file_order
from inferstack.problems.file_codes import NO_BASE
from inferstack.problems.words import listed
from inferstack.resolve.template import Template, resolve_template
from inferstack.review.project_rules import WrittenRules
from inferstack.review.revision import Commit, GitError, commit_of, files_of
from inferstack.review.rooms import Rooms, rooms_of
from inferstack.review.templates import (
    PATTERNS,
    PreviousTemplate,
    each_endpoint,
    notes_on,
    read_folder,
    read_template,
)
from inferstack.source.spec_file import SUFFIXES, name_in_templates, relative_to_cwd

_REQUIREMENTS = "requirements.txt"
_OF_GIT = "git:"
"""Before a revision: with it, a base is never a path."""
_FIX = "name a template, a folder of templates or specs, or a commit, branch or tag of git"
_FIX_OF_REVISION = "name a commit, branch or tag, as in `git:main`"


class BaseStack(msgspec.Struct, frozen=True):
    """A template of the base."""

    template: PreviousTemplate
    spec: str | None = None
    """The spec file that made it, as it is called under review; None for templates from elsewhere."""
    came_from: str | None = None
    """The same as it is called in the base."""
    is_staged: bool = False
    """Whether it is known for which stage it was made."""
    stage: str | None = None
    by_this_version: PreviousTemplate | None = None
    """What this version makes of the same spec, if another one made the template."""
    account: str | None = None
    """The account that it was made for; None if that is not known."""
    region: str | None = None
    """The region that it was made for; None if that is not known."""
    rooms: Rooms = {}
    """What its language models have room for, if a spec made it."""

    def is_in(self, one: LoadedSpec) -> bool:
        """Whether it is known to be where a spec goes."""
        return (self.account, self.region) == (one.spec.account, one.spec.region)

    def delete_command(self, stack: str) -> str:
        """The command that deletes the stack, given by its name."""
        # The name may be from a template that anybody has written.
        return delete_command(shlex.quote(stack), self.region)


def delete_command(stack: str, region: str | None) -> str:
    """The command that deletes a stack; ``stack`` is its name as a shell needs it."""
    where = "" if region is None else f" --region {region}"
    return f"aws cloudformation delete-stack --stack-name {stack}{where}"


class Base(msgspec.Struct, frozen=True):
    """Everything that a change is compared with."""

    title: str
    stacks: tuple[BaseStack, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    is_folder: bool = True
    """False for a single template, which a single spec is compared with whatever its name."""
    commit: str | None = None
    """The full hash of a revision of git."""
    rules: Mapping[str, WrittenRules] = {}
    """The rules of the project that applied to each spec file, by its name under review."""
    wrong: Mapping[str, Problem] = {}
    """The first error of each spec file with errors, by its name under review: what it made is not known."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What of a base is asked for: the same paths, stage and region as those of the specs under review."""

    paths: tuple[Path, ...]
    stage: str | None = None
    region: str | None = None
    program: str | None = None
    """The inferstack of the base's own version."""


def read_base(base: Path | str, asked: Question) -> Base:
    """Reads what a change is compared with: a path or a revision, for certain.

    A change under review may add a path with the name of a revision. So `git:` makes any text a revision, a
    text without it that may be either is refused, and a `Path` that is there is a path.

    Raises:
        SpecError: when it is neither or both, or cannot be read.
    """
    if isinstance(base, str) and base.startswith(_OF_GIT):
        return _of_revision(base.removeprefix(_OF_GIT), asked)
    path = Path(base)
    if not os.path.exists(path):  # noqa: PTH110 - never raises, whatever the text
        return _of_word(str(base), asked)
    if isinstance(base, str) and _is_revision(base):
        fix = f"write `./{base}` for the path, or `{_OF_GIT}{base}` for the revision"
        raise _unknown(base, "this is both a path and a revision of git", fix)
    return _of_path(path, asked)


def _of_revision(revision: str, asked: Question) -> Base:
    if not revision:
        raise _unknown(_OF_GIT, "no revision follows", _FIX_OF_REVISION)
    try:
        commit = commit_of(revision)
    except GitError as error:
        raise _unknown(f"{_OF_GIT}{revision}", str(error), error.fix or _FIX_OF_REVISION) from None
    return _of_commit(revision, commit, asked)


def _of_word(word: str, asked: Question) -> Base:
    try:
        commit = commit_of(word)
    except GitError as error:
        raise _unknown(word, f"there is no such path, and {error}", error.fix or _FIX) from None
    return _of_commit(word, commit, asked)


def _is_revision(word: str) -> bool:
    try:
        commit_of(word)
    except GitError:
        return False
    return True


def _of_path(path: Path, asked: Question) -> Base:
    if path.is_file():
        template = read_template(path)
        stacks = stacks_of(template)
        return Base(path.as_posix(), stacks, notes=(*notes_on([template]),), is_folder=len(stacks) > 1)
    if not path.is_dir():
        raise _unknown(path.as_posix(), "this is neither a file nor a folder", _FIX)
    if any(True for form in PATTERNS for _ in path.glob(f"**/{form}")):
        templates, problems = read_folder(path)
        stacks = tuple(it for template in templates for it in stacks_of(template))
        return Base(path.as_posix(), stacks, tuple(problems), (*notes_on(templates),))
    return _of_folder(path, asked)


def stacks_of(template: PreviousTemplate) -> tuple[BaseStack, ...]:
    """One for each endpoint of a stack: what is compared is an endpoint."""
    return tuple(BaseStack(it, account=it.account, region=it.region) for it in each_endpoint(template))


def _unknown(base: str, why: str, fix: str) -> SpecError:
    return SpecError([Problem(FilePlace(base), why, fix, NO_BASE)])


# ---------------------------------------------------------------- specs


class _SpecFile(msgspec.Struct, frozen=True):
    """A spec file of the base."""

    file: Path
    name: str
    """What it is called under review."""
    came_from: str
    """What it is called in the base."""
    place: str
    """The same, with the revision in front if there is one."""


def _of_folder(folder: Path, asked: Question) -> Base:
    """A folder of specs stands for the folder under review, whatever both are called."""
    first = next((it for it in asked.paths if _is_or_was_folder(it)), asked.paths[0].parent)
    files = [
        _SpecFile(it, name_in_templates(str(first / it.name)), it.as_posix(), it.as_posix())
        for it in spec_files(folder)
    ]
    return _rendered(folder.as_posix(), files, folder, asked)


def _is_or_was_folder(path: Path) -> bool:
    return is_folder(path) or (is_gone(path) and path.suffix not in SUFFIXES)


def _rendered(
    title: str, files: Sequence[_SpecFile], folder: Path, asked: Question, top: Path | None = None
) -> Base:
    """The stacks that the specs make; ``folder`` is where another version would render them, and ``top`` is
    where the search for the project's file ends.
    """
    stacks: list[BaseStack] = []
    errors: dict[str, Problem] = {}
    rules: dict[str, WrittenRules] = {}
    for one in files:
        try:
            document = read_spec(one.file, top)
            rules[one.name] = written_rules(document)
            made, problems = check_document(document, stage=asked.stage, region=asked.region)
        except SpecError as error:
            made, problems = [], list(error.problems)
        stacks += [_stack(one, it) for it in made]
        wrong = next((it for it in in_file_order(problems) if it.severity is Severity.ERROR), None)
        if wrong is not None:
            errors[one.name] = _in_base(one, wrong)
    base = Base(title, tuple(stacks), wrong=errors, rules=rules)
    return base if asked.program is None else _by_program(asked.program, base, files, folder, asked)


def _in_base(one: _SpecFile, wrong: Problem) -> Problem:
    """An error of a spec, where the base has it; of a file beside it, such as its lock, at the spec."""
    is_here = wrong.file == relative_to_cwd(str(one.file))
    place = FilePlace(one.place, wrong.line, wrong.column) if is_here else FilePlace(one.place)
    return Problem(place, wrong.message, wrong.fix, wrong.code)


def _stack(one: _SpecFile, loaded: LoadedSpec) -> BaseStack:
    region = loaded.spec.region
    made = resolve_template(loaded.spec, region=region, source_of=lambda path: f"{one.name}: {dotted(path)}")
    at = "" if loaded.stage is None else f" ({loaded.stage})"
    template = _template(f"{one.place}{at}", made)
    return BaseStack(
        template,
        spec=one.name,
        came_from=one.came_from,
        is_staged=True,
        stage=loaded.stage,
        account=loaded.spec.account,
        region=template.image_region if region is None else region,
        rooms=rooms_of(loaded),
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
            raise _unknown(program, f"the program cannot be run: {error.strerror}", _FIX) from None
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


def _of_commit(title: str, commit: Commit, asked: Question) -> Base:
    try:
        with files_of(commit) as folder:
            files = list(_specs_at(title, asked.paths, commit.top, folder))
            base = _rendered(title, files, folder, asked, top=folder)
            is_empty = not any(folder.iterdir())
            other = bool(files) and _text(commit.top / _REQUIREMENTS) != _text(folder / _REQUIREMENTS)
    except GitError as error:
        raise _unknown(title, str(error), _FIX_OF_REVISION) from None
    notes = list(base.notes)
    if is_empty:
        notes.append(f"{title} has no files, so every endpoint is new")
    if other and asked.program is None:
        notes.append(
            f"{title} has another {_REQUIREMENTS}: what its version of inferstack makes of the specs is "
            "only known with --base-program"
        )
    return msgspec.structs.replace(base, notes=tuple(notes), commit=commit.id)


def _specs_at(title: str, paths: Iterable[Path], top: Path, folder: Path) -> Iterator[_SpecFile]:
    """The spec files that were at these paths; none where there were none."""
    for path in paths:
        inner = _path_in(top, path)
        if inner is None:
            continue
        there = folder / inner
        try:
            found = spec_files(there)
        except SpecError:
            continue
        for file in found:
            if file.is_file():
                name = name_in_templates(str(path / file.name if is_folder(there) else path))
                yield _SpecFile(file, name, name, f"{title}:{name}")


def _path_in(top: Path, path: Path) -> Path | None:
    """A path from the top of the repository; None if it is not in there.

    Links in it are not followed, only those above the repository: a change that makes the folder of its specs
    a link would otherwise be compared with what that folder never was.
    """
    written = Path(os.path.abspath(path))  # noqa: PTH100 - keeps links
    real = os.path.realpath(top)
    from_the_root = reversed((written, *written.parents))
    above = next((it for it in from_the_root if os.path.realpath(it) == real), None)
    return None if above is None else written.relative_to(above)


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None
