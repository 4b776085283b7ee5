"""Several spec files at once: which files a path stands for, and what can be wrong between them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from inferstack.spec.blocks.alarms import Dashboard
from inferstack.spec.check import LoadedSpec, check_document
from inferstack.spec.document import read_document
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.spec.walk import components

NO_SPECS = "IS040"
SAME_ENDPOINT = "IS041"
SAME_COMPONENT = "IS042"
SAME_DASHBOARD = "IS043"
SAME_STACK = "IS044"
CROSS_FILE_CODES = {
    NO_SPECS: "The folder holds no spec file, or cannot be read.",
    SAME_ENDPOINT: (
        "Two specs deploy endpoints of the same name into the same account and region. Names are compared "
        "without regard to case, as SageMaker does."
    ),
    SAME_COMPONENT: (
        "Two specs deploy inference components of the same name into the same account and region. There can "
        "be one of a name there, also on different endpoints."
    ),
    SAME_DASHBOARD: "Two specs write a dashboard of the same name: the later one would replace the other.",
    SAME_STACK: (
        "Two specs make stacks of the same name. A stack is called like its endpoint, with "
        "`endpoint-` before a digit, since CloudFormation wants a letter."
    ),
}
"""Code and meaning of everything that this module reports."""

SUFFIXES = (".yaml", ".yml")


def spec_files(path: Path | str) -> tuple[Path, ...]:
    """The spec files that a path stands for: itself, or of a folder its ``*.yaml`` and ``*.yml``, sorted.

    Folders in a folder and hidden files are left out.

    Raises:
        SpecError: when a folder holds none, or cannot be read.
    """
    folder = Path(path)
    if not _is_folder(folder):
        return (folder,)
    try:
        found = sorted(file for file in folder.iterdir() if _is_spec(file))
    except OSError as error:
        raise SpecError([_no_specs(folder, f"the folder cannot be read: {error.strerror}")]) from None
    if not found:
        raise SpecError([_no_specs(folder, "the folder holds no spec file")])
    return tuple(found)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # Whoever reads it as a file finds out what is wrong, and says so.
        return False


def _is_spec(file: Path) -> bool:
    return file.suffix in SUFFIXES and not file.name.startswith(".") and not file.is_dir()


def _no_specs(folder: Path, message: str) -> Problem:
    fix = "put a *.yaml or *.yml file directly into it, or name another path"
    return Problem(folder.as_posix(), 1, 1, NO_SPECS, message, fix)


def check_files(files: Iterable[Path | str], *, stage: str | None = None) -> list[Problem]:
    """Everything wrong with some spec files, each by itself and all of them together.

    Without a stage a file is looked at as it stands and at each of its stages; files meet at the same
    stage only, where one without ``stages`` always is.
    """
    specs: list[LoadedSpec] = []
    problems: dict[Problem, None] = {}
    for file in files:
        try:
            found, wrong = check_document(read_document(file), stage=stage)
        except SpecError as error:
            found, wrong = [], list(error.problems)
        specs += found
        problems.update(dict.fromkeys(wrong))
    for together in _deployed_together(specs):
        problems.update(dict.fromkeys(cross_file_problems(together)))
    return list(SpecError(problems).problems)


def _deployed_together(specs: list[LoadedSpec]) -> Iterator[list[LoadedSpec]]:
    staged = {spec.document.file for spec in specs if spec.stage is not None}
    for stage in dict.fromkeys(spec.stage for spec in specs):
        yield [
            spec
            for spec in specs
            if spec.stage == stage or (spec.stage is None and spec.document.file not in staged)
        ]


def cross_file_problems(loaded: Iterable[LoadedSpec]) -> list[Problem]:
    """What specs that are deployed together do to one another: two endpoints, components or
    dashboards of one name.

    Each is reported at the later spec. An account or region that neither names counts as the same.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """
    first: dict[tuple[str, str, str | None, str | None], tuple[LoadedSpec, SpecPath]] = {}
    problems: list[Problem] = []
    for one in loaded:
        env = one.spec.env
        account, region = (None, None) if env is None else (env.account, env.region)
        for code, path, name in _names(one):
            other = first.setdefault((code, name.casefold(), account, region), (one, path))
            # Endpoints of one name have stacks of one name, too.
            if other[0] is not one and not (code == SAME_STACK and _same_endpoint(one, other[0])):
                problems.append(_same_name(code, name, (one, path), other))
    return problems


def stack_name(endpoint_name: str) -> str:
    """The endpoint's name, with a word before it where CloudFormation would refuse the first character.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    """
    return endpoint_name if endpoint_name[0].isalpha() else f"endpoint-{endpoint_name}"


def _same_endpoint(one: LoadedSpec, other: LoadedSpec) -> bool:
    return one.spec.endpoint_name.casefold() == other.spec.endpoint_name.casefold()


def _names(one: LoadedSpec) -> Iterator[tuple[str, SpecPath, str]]:
    """Every name that is one of its kind in an account and region."""
    yield SAME_ENDPOINT, ("endpoint_name",), one.spec.endpoint_name
    yield SAME_STACK, ("endpoint_name",), stack_name(one.spec.endpoint_name)
    for path, name, _ in components(one.spec):
        yield SAME_COMPONENT, path, name
    board = one.spec.dashboard
    if isinstance(board, Dashboard) and board.dashboard_name is not None:
        yield SAME_DASHBOARD, ("dashboard", "dashboard_name"), board.dashboard_name


_WHAT = {
    SAME_ENDPOINT: "endpoint",
    SAME_COMPONENT: "inference component",
    SAME_DASHBOARD: "dashboard",
    SAME_STACK: "stack",
}


def _same_name(
    code: str, name: str, one: tuple[LoadedSpec, SpecPath], other: tuple[LoadedSpec, SpecPath]
) -> Problem:
    document, path = one[0].document, one[1]
    taken, here = other[0].document.position(other[1]), document.position(path)
    message = (
        f'the {_WHAT[code]} name "{name}" is taken by {other[0].document.file}:{taken.line}, '
        "for the same account and region"
    )
    fix = "give one of them another name, or another `env`"
    return Problem(document.file, *here, code, message, fix, path=path)
