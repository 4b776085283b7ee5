"""Several spec files at once: the files at a path, what is wrong with each, and names used twice."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from inferstack.check.load import LoadedSpec, check_document, load_spec
from inferstack.facts.measured import named_dashboard
from inferstack.facts.walk import components
from inferstack.problems import FilePlace, Problem, SpecError, SpecPath, in_file_order
from inferstack.problems.file_codes import (
    NO_SPECS,
    SAME_COMPONENT,
    SAME_DASHBOARD,
    SAME_ENDPOINT,
    SAME_SCALING,
    SAME_STACK,
)
from inferstack.source.document import Position, read_document
from inferstack.source.spec_file import SUFFIXES, relative_to_cwd
from inferstack.source.stages import stage_names, uses_stage
from inferstack.texts.placeholders import without_pseudo_parameters

# ---------------------------------------------------------------- names that several specs take

_ENDPOINT_NAME = ("endpoint_name",)
_WHAT = {
    SAME_ENDPOINT: "endpoint name",
    SAME_COMPONENT: "inference component name",
    SAME_DASHBOARD: "dashboard name",
    SAME_STACK: "stack name",
    SAME_SCALING: "scalable target",
}


class TakenName(msgspec.Struct, frozen=True):
    """A name, the code of the problem if it is taken twice, and where the spec gives the name."""

    code: str
    name: str
    path: SpecPath
    at: Position

    @property
    def is_regional(self) -> bool:
        """False for a dashboard, whose name is shared by all regions.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutDashboard.html
        """
        return self.code != SAME_DASHBOARD


class TakenNames(msgspec.Struct, frozen=True):
    """The names that a spec takes at one stage. Account and region are None if the spec names none."""

    file: str
    stage: str | None
    account: str | None
    region: str | None
    names: tuple[TakenName, ...]


def taken_names(loaded: LoadedSpec) -> TakenNames:
    """Every name in a spec that must be unique in an account and region."""
    spec, document = loaded.spec, loaded.document
    names = (TakenName(code, name, path, document.position(path)) for code, path, name in _names(loaded))
    return TakenNames(document.file, loaded.stage, spec.account, spec.region, tuple(names))


def _names(one: LoadedSpec) -> Iterator[tuple[str, SpecPath, str]]:
    yield SAME_ENDPOINT, _ENDPOINT_NAME, one.spec.endpoint_name
    yield SAME_STACK, _ENDPOINT_NAME, stack_name(one.spec.endpoint_name)
    for path, name, _ in components(one.spec):
        yield SAME_COMPONENT, path, name
    if board := named_dashboard(one.spec):
        yield SAME_DASHBOARD, *board


def stack_name(endpoint_name: str) -> str:
    """The endpoint's name, with a word in front if CloudFormation would refuse its first character.

    A stack's name cannot contain a function, so ``churn-${AWS::Region}`` becomes `churn-Region`.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    """
    name = without_pseudo_parameters(endpoint_name)
    return name if name[0].isalpha() else f"endpoint-{name}"


def names_taken_twice(specs: Iterable[TakenNames]) -> list[Problem]:
    """Conflicts between specs that are deployed together: endpoints, components, dashboards or stacks of the
    same name.

    Each is reported at the later spec. If neither spec names an account or region, it counts as the same.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """
    first: dict[tuple[str | None, ...], tuple[TakenNames, TakenName]] = {}
    problems: list[Problem] = []
    for one in specs:
        found: list[Problem] = []
        for taken in one.names:
            before, other = first.setdefault(known_as(taken, one.account, one.region), (one, taken))
            if before is not one:
                by, fix = f"{before.file}:{other.at.line}", "give one of them another name, or another `env`"
                found.append(same_name(one.file, taken, by, fix))
        problems += without_followers(found)
    return problems


def known_as(name: TakenName, account: str | None, region: str | None) -> tuple[str | None, ...]:
    """What identifies a name: another one is different if it differs in any of these."""
    return name.code, name.name.casefold(), account, region if name.is_regional else None


def without_followers(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of one spec without consequential ones: if two endpoints have the same name, so do the
    stacks and dashboards that are named after them.
    """
    if all(it.code != SAME_ENDPOINT for it in problems):
        return list(problems)
    return [it for it in problems if it.code == SAME_ENDPOINT or it.path != _ENDPOINT_NAME]


def same_name(file: str, taken: TakenName, by: str, fix: str) -> Problem:
    """The problem of a name that is already taken; ``by`` says by what."""
    where = "account and region" if taken.is_regional else "account"
    message = f'the {_WHAT[taken.code]} "{taken.name}" is taken by {by}, for the same {where}'
    return Problem(taken.path, message, fix, taken.code, at=FilePlace(file, *taken.at))


# ---------------------------------------------------------------- files and folders

USUAL_FOLDER = "model_specs"
"""Where specs are looked for unless another path is given."""


def spec_files(path: Path | str) -> tuple[Path, ...]:
    """The spec files that a path stands for: itself, or the ``*.yaml`` and ``*.yml`` of a folder, sorted.

    Subfolders and hidden files are left out.

    Raises:
        SpecError: when a folder holds none, or cannot be read.
    """
    folder = Path(path)
    if not is_folder(folder):
        return (folder,)
    try:
        found = sorted(file for file in folder.iterdir() if _is_spec(file))
    except OSError as error:
        raise SpecError([_no_specs(folder, f"the folder cannot be read: {error.strerror}")]) from None
    if not found:
        raise SpecError([_no_specs(folder, "the folder holds no spec file")])
    return tuple(found)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder of spec files."""
    try:
        return path.is_dir()
    except OSError:
        # Reading it as a file will find out what is wrong, and report it.
        return False


def _is_spec(file: Path) -> bool:
    return file.suffix in SUFFIXES and not file.name.startswith(".") and not file.is_dir()


def _no_specs(folder: Path, message: str) -> Problem:
    usual = folder / USUAL_FOLDER
    fix = (
        f"did you mean `{usual.as_posix()}`?"
        if is_folder(usual)
        else "put a *.yaml or *.yml file directly into it, or name another path"
    )
    return Problem(FilePlace(folder.as_posix()), message, fix, NO_SPECS)


def load_specs(
    path: Path | str, *, stage: str | None = None, region: str | None = None
) -> tuple[LoadedSpec, ...]:
    """All specs of a folder, or the one of a file, for one stage. ``region`` is for specs that name none.

    Raises:
        SpecError: with every problem of every file, when there is an error in any.
    """
    loaded: list[LoadedSpec] = []
    problems: list[Problem] = []
    for file in spec_files(path):
        try:
            loaded.append(load_spec(relative_to_cwd(str(file)), stage=stage, region=region))
        except SpecError as error:
            problems += error.problems
    problems += names_taken_twice(map(taken_names, loaded))
    if problems:
        raise SpecError([*problems, *warnings_of(loaded)])
    return tuple(loaded)


def warnings_of(loaded: Iterable[LoadedSpec]) -> Iterator[Problem]:
    """The warnings of several specs."""
    return (warning for one in loaded for warning in one.warnings)


class CheckedFile(msgspec.Struct, frozen=True):
    """What is wrong with a file on its own, and which names it takes at each stage that can be deployed."""

    problems: tuple[Problem, ...]
    taken: tuple[TakenNames, ...] = ()


def check_files(
    files: Iterable[Path], *, stage: str | None = None, region: str | None = None
) -> list[Problem]:
    """Everything wrong with some spec files, each on its own and all of them together.

    Without a stage, a file is checked as it stands and at each of its stages. Names are compared between
    files at the same stage; a file without ``stages`` is compared at every stage.
    """
    checked = [checked_file(file, stage=stage, region=region) for file in files]
    problems = [problem for one in checked for problem in one.problems]
    for together in _deployed_together([taken for one in checked for taken in one.taken]):
        problems += names_taken_twice(together)
    return list(in_file_order(problems))


def checked_file(file: Path, *, stage: str | None = None, region: str | None = None) -> CheckedFile:
    """Checks one file of several."""
    try:
        specs, problems = check_document(read_document(file), stage=stage, region=region)
    except SpecError as error:
        return CheckedFile(error.problems)
    return CheckedFile(tuple(problems), tuple(map(taken_names, specs)))


def idle_stage(files: Iterable[Path | str], stage: str | None) -> str | None:
    """A message about a chosen stage if no file has stages, since the choice may be a mistake."""
    if stage is None or any(map(_knows_stages, files)):
        return None
    fix = f"write `stages: {{{stage}: …}}` into one, or choose none"
    return f"the stage `{stage}` has no effect because no spec has `stages`; {fix}"


def _knows_stages(file: Path | str) -> bool:
    try:
        document = read_document(file)
    except SpecError:
        # It cannot be told, and what is wrong with the file has been said.
        return True
    return bool(stage_names(document)) or uses_stage(document)


def _deployed_together(specs: list[TakenNames]) -> Iterator[list[TakenNames]]:
    staged = {one.file for one in specs if one.stage is not None}
    for stage in dict.fromkeys(one.stage for one in specs):
        yield [one for one in specs if one.stage == stage or (one.stage is None and one.file not in staged)]
