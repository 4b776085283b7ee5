"""The files and folders of a repository."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from inferstack.problems import Place, Problem
from inferstack.problems.words import listed
from inferstack.triton.backends import backends_of_file
from inferstack.triton.model import (
    CONFIG_FILE,
    LARGEST,
    MISSING_FOLDER,
    NO_REPOSITORY,
    NOT_A_FILE,
    RESERVED_FOLDERS,
    UNREADABLE,
    FieldPath,
    Repository,
    TritonModel,
    is_version,
    loaded_versions,
    mistaken_folders,
    taken_for,
)
from inferstack.triton.rules.base import (
    CONFIG_UTILS,
    DOCUMENTATION,
    MANAGER,
    SOURCE,
    Context,
    at,
    each,
    error,
    warning,
)

_LAYOUT = f"{DOCUMENTATION}/model_repository.md"
_LIFECYCLE = f"{SOURCE}/model_repository_manager/model_lifecycle.cc"
_ARCHIVE = "https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html"
_ONLY_ALLOWED = "only with `--allow DIR`; ignore IS988 if that is intended"
# From this release on, a model whose name has a slash is refused when it is loaded.
_STRICT_NAMES = (26, 3)
# The parameter for a model's own packed Python, and how its path begins if it is in the model's folder.
_ENVIRONMENT, _MODEL_FOLDER = "EXECUTION_ENV_PATH", "$$TRITON_MODEL_DIRECTORY/"


def _faults(repository: Repository, code: str) -> Iterator[Problem]:
    for fault in repository.faults:
        if fault.code == code:
            yield Problem(fault.place, fault.message, fault.fix)


@error(UNREADABLE, MANAGER, partial=True)
def configuration_is_readable(repository: Repository, context: Context) -> Iterator[Problem]:
    """A `config.pbtxt` must be a valid ModelConfig of Triton, in UTF-8.

    Triton refuses the whole file for one unknown field, or for two of which only one may be set.
    """
    yield from _faults(repository, UNREADABLE)


@error(NO_REPOSITORY, _LAYOUT, partial=True)
def repository_has_model_folders(repository: Repository, context: Context) -> Iterator[Problem]:
    """A repository must have a folder for each model, with its `config.pbtxt` inside.

    With one folder level too many or too few, the container stops without a useful message.
    """
    yield from _faults(repository, NO_REPOSITORY)


@warning(MISSING_FOLDER, _LAYOUT, partial=True)
def repository_is_here(repository: Repository, context: Context) -> Iterator[Problem]:
    """The folder that `repository` names should exist.

    A machine that only deploys often has no weights, so this is not an error; packing needs the folder.
    """
    yield from _faults(repository, MISSING_FOLDER)


@error(NOT_A_FILE, _ARCHIVE, partial=True)
def repository_holds_files_and_folders(repository: Repository, context: Context) -> Iterator[Problem]:
    """An archive can hold only files and folders, no links, pipes or devices.

    Packing follows no link, so a model behind one is not checked either.
    """
    yield from _faults(repository, NOT_A_FILE)


@warning("IS988", "inferstack's archives", partial=True)
def repository_lies_in_the_specs_folder(repository: Repository, context: Context) -> Iterator[Problem]:
    """An existing repository, and local files that a spec names, should be in the folder of the spec.

    What is elsewhere is checked and deployed all the same, but its folder has to be allowed for packing.
    """
    if repository.outside:
        fix = f"`inferstack package` takes its files {_ONLY_ALLOWED}"
        yield Problem(repository.source, "the repository is outside the folder of the spec", fix)
    for model in repository.models if repository.strangers else ():
        for inner, local in model.files.items():
            if local in repository.strangers:
                message = f"{local.as_posix()} is outside the folder of the spec"
                fix = f"`inferstack package` takes it {_ONLY_ALLOWED}"
                yield Problem(at(model, "files", inner), message, fix)


@warning("IS903", f"{DOCUMENTATION}/model_configuration.md")
def model_has_a_configuration(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Each model should have a `config.pbtxt`.

    Some backends can do without, but then nothing can be checked before they start.
    """
    if not model.complete:
        fix = f"write {CONFIG_FILE}, or remove the folder if it is not a model"
        yield Problem(at(model), f"{model.name} has no {CONFIG_FILE}, so it cannot be checked", fix)


@error("IS904", MANAGER)
def name_is_the_folders(repository: Repository, context: Context) -> Iterator[Problem]:
    """The `name` in a configuration must be the name of the model's folder.

    The model that answers in an archive of a multi-model endpoint is exempt: Triton renames it.
    """
    for model in repository.models:
        renamed = repository.multi_model and model.name == repository.default_model
        if model.config.name and model.config.name != model.name and not renamed:
            message = f'`name` is "{model.config.name}", but the folder is "{model.name}"'
            yield Problem(at(model, "name"), message, "remove `name`: Triton uses the folder's")


@error("IS905", MANAGER)
def name_is_a_folders(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A model's name must be usable as the name of a folder.

    It names the model's folder, and the model is loaded under it.
    """
    if not model.name.strip() or model.name in (".", "..") or "/" in model.name or "\\" in model.name:
        message = f'"{model.name}" is not a valid model name'
        yield Problem(at(model), message, "use letters, digits, `_`, `-` and `.`")


@error("IS906", MANAGER)
def archive_names_have_no_folder(repository: Repository, context: Context) -> Iterator[Problem]:
    """An archive of a multi-model endpoint cannot be in a folder below the prefix.

    Triton takes the archive's path for the model's name, and newer releases refuse a slash in it. Elsewhere
    the folder is only where `package` puts the archive: each server unpacks its own.
    """
    declared = repository.archive in repository.source
    strict = context.release is not None and context.release >= _STRICT_NAMES
    if strict and declared and "/" in repository.archive:
        message = f"`{repository.archive}` has a folder in its name, which Triton refuses from 26.03 on"
        yield Problem(repository.source, message, f"name it `{repository.archive.replace('/', '_')}`")


@error("IS907", _LIFECYCLE, partial=True)
def a_version_is_loaded(repository: Repository, context: Context) -> Iterator[Problem]:
    """At least one version of a model must exist and be loaded.

    An ensemble needs a version folder, too, although nothing is in it.
    """
    for model in repository.models:
        # A folder like `lost+found` beside models is no model: its missing configuration is reported instead.
        beside = model.name != repository.default_model and len(repository.models) > 1
        if model.complete or model.versions or any(_odd_versions(model)) or not beside:
            yield from _no_version(model)


def _no_version(model: TritonModel) -> Iterator[Problem]:
    if any(_mistaken(model)):
        # Once its folder has the right name, the version is there.
        return
    if not model.versions:
        odd = list(_odd_versions(model))
        found = f"only {listed(odd, last='and')}, which Triton ignores" if odd else "none"
        fix = "add a folder `1`: a number without zeros in front; a copy or git may have lost the empty one"
        yield Problem(at(model), f"{model.name} needs a version folder, but has {found}", fix)
    elif not loaded_versions(model.config, model.versions):
        has = listed(model.versions, last="and")
        message = f"`version_policy` loads none of the versions that {model.name} has: {has}"
        fix = "choose a version that exists, or remove it"
        if model.config.version_policy.HasField("latest"):
            fix = "write `num_versions: 1` or more, or remove it"
        yield Problem(at(model, "version_policy"), message, fix)


def _has_no_version(model: TritonModel) -> bool:
    """Whether no folder has the name of a version; a spec's model may have a version all the same."""
    return not any(map(is_version, model.folders))


def _odd_versions(model: TritonModel) -> Iterator[str]:
    """Folders that were meant as versions, but that Triton does not take for versions."""
    for folder in model.folders:
        if taken_for(folder) is None and folder not in RESERVED_FOLDERS and _number_in(folder).isdecimal():
            yield folder


def _number_in(folder: str) -> str:
    return folder.strip("vV")


@warning("IS908", _LIFECYCLE)
def version_folders_are_numbers(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Version folders should be plain numbers.

    Triton ignores `v1` and `01`, with a warning that is easily missed; their contents are never served.
    """
    if _has_no_version(model) and (model.folder is not None or model.model_file is not None):
        # IS907 or IS910 reports it.
        return
    for folder in _odd_versions(model):
        message = f"Triton ignores the folder `{folder}` of {model.name}"
        yield Problem(_in_folder(model, folder), message, f"name it `{int(_number_in(folder))}`")


def _in_folder(model: TritonModel, folder: str) -> Place:
    """Where the first file in a version's folder is declared."""
    return at(model, "files", next((path for path in model.files if path.startswith(f"{folder}/")), ""))


@error("IS933", _LIFECYCLE)
def version_folders_are_nothing_but_numbers(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A folder whose name begins with a number must be named exactly like that number.

    Triton takes `2_backup` for version 2, and waits for ever for what should be in a folder `2`.
    """
    for folder in _mistaken(model):
        version = taken_for(folder) or 0
        message = f"Triton takes the folder `{folder}` of {model.name} for version {version}, and hangs"
        fix = "move it out of the model's folder, or give it a name that begins with a letter"
        if abs(version) > LARGEST:
            message = f"Triton exits at the folder `{folder}` of {model.name}: no version is above {LARGEST}"
        elif version >= 0:
            fix = f"{fix}; if it is that version, name it `{version}`"
        yield Problem(_in_folder(model, folder), message, fix)


def _mistaken(model: TritonModel) -> Iterator[str]:
    return mistaken_folders(model.config, model.folders, model.versions)


@warning("IS909", _LIFECYCLE)
def named_versions_exist(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Each version that a policy names should exist.

    Triton only logs that one is missing; requests for that version get an error.
    """
    for index, version in enumerate(model.config.version_policy.specific.versions):
        if str(version) not in model.versions:
            place = at(model, "version_policy", "specific", "versions", index)
            has = listed(model.versions, last="and")
            yield Problem(place, f"{model.name} has no version {version}", f"it has {has}")


@error("IS910", _LIFECYCLE)
def model_file_is_there(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Each loaded version must have the file that the backend loads.

    A Python model without its file makes the server wait forever.
    """
    wanted = model.model_file
    unnamed = model.folder is None and not model.files
    if wanted is None or model.is_ensemble or not model.complete or unnamed:
        return
    for version in loaded_versions(model.config, model.versions):
        path = f"{version}/{wanted}"
        # A model may also be a folder: saved models of TensorFlow, ONNX with its weights beside it.
        if path not in model.files and not any(file.startswith(f"{path}/") for file in model.files):
            message = f"version {version} of {model.name} is missing `{wanted}`"
            fix = f"add it{_to_files(model, path)}, or {_likely_file(model, version)}"
            if _has_no_version(model) and any(_odd_versions(model)):
                fix = f"rename the folder `{next(_odd_versions(model))}` to `{version}`"
            yield Problem(at(model, "files") if model.folder is None else at(model), message, fix)


def _likely_file(model: TritonModel, version: str) -> str:
    found = [path.removeprefix(f"{version}/") for path in model.files if path.startswith(f"{version}/")]
    other = next((name for name in found if _others(model, name)), None)
    if other is not None:
        meant = listed([f"backend: {name}" for name in _others(model, other)])
        return f"write {meant}, which loads `{other}`"
    return f"name another with `default_model_filename`{f': {listed(found)}' if found else ''}"


def _others(model: TritonModel, file: str) -> list[str]:
    """The backends that load a file of this name, if the model's own is not among them."""
    found = list(backends_of_file(file))
    return [] if model.backend in found else found


def _to_files(model: TritonModel, path: str) -> str:
    return f" to `files`: {{{path}: LOCAL_FILE}}" if model.folder is None else ""


@warning("IS911", _LAYOUT)
def models_have_files(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A model that is declared should have its files.

    Without them only the configuration could be packed.
    """
    wanted = model.model_file
    if model.folder is None and not model.files and wanted is not None and not model.is_ensemble:
        message = f"{model.name} has no files, but its backend loads `{wanted}`"
        yield Problem(at(model), message, f"add `files: {{1/{wanted}: LOCAL_FILE}}`")


@error("IS912", _LAYOUT)
def paths_stay_in_the_folder(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Paths in `files` must be inside the model's folder.

    `config.pbtxt` is not among them, since the packer writes it from the spec.
    """
    for path in model.files if model.folder is None else ():
        parts = path.split("/")
        if path == CONFIG_FILE:
            fix = "remove it, or use `repository` for models with their own"
            message = f"`{CONFIG_FILE}` of {model.name} is written from the spec"
        elif "\\" in path or any(part in ("", ".", "..") for part in parts):
            message = f'"{path}" is not a path inside the folder of {model.name}'
            fix = "write it like 1/model.plan"
        else:
            continue
        yield Problem(at(model, "files", path), message, fix)


@error("IS913", CONFIG_UTILS)
def named_files_exist(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Files that a configuration names must exist.

    Labels of outputs, data for warm-up and for the first state of a sequence, Python environments.
    """
    for field, path in _named_files(model) if model.files else ():
        if path not in model.files:
            fix = f"add `{path}`{_to_files(model, path)}"
            yield Problem(at(model, *field), f"{model.name} has no file `{path}`", fix)


def _named_files(model: TritonModel) -> Iterator[tuple[FieldPath, str]]:
    """The files that a configuration names, each after the field that does."""
    parameters = model.config.parameters
    environment = parameters[_ENVIRONMENT].string_value if _ENVIRONMENT in parameters else ""
    if environment.startswith(_MODEL_FOLDER):
        yield ("parameters", _ENVIRONMENT), environment.removeprefix(_MODEL_FOLDER)
    for path, output in each(model, "output"):
        if output.label_filename:
            yield (*path, "label_filename"), str(PurePosixPath(output.label_filename))
    for path, sample in each(model, "model_warmup"):
        for name, tensor in sorted(sample.inputs.items()):
            if tensor.input_data_file and sample.batch_size:
                yield (*path, "inputs", name, "input_data_file"), f"warmup/{tensor.input_data_file}"
    for path, state in each(model, "sequence_batching", "state"):
        for number, initial in enumerate(state.initial_state):
            if initial.data_file:
                yield (*path, "initial_state", number, "data_file"), f"initial_state/{initial.data_file}"
