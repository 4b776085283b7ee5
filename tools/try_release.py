"""A release, rehearsed: built twice, checked, and tried in empty environments. ``make test-release`` runs it.

With ``--dist`` it tries files that were built before, as the jobs of the release workflow do. It needs ``uv``
and an index of packages. What it tries has nothing of what is installed here.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
DEPENDENCIES = ("lowest", "newest")
# `rehearse` and `pictures` are large, and have tests of their own.
EXTRAS = ("aws", "arrays", "completion", "node")
_SPEC = ROOT / "model_specs" / "resnet-mme.yaml"
_REGION = "us-east-1"
_TWINE = "twine>=6.1,<8"


def main(words: list[str] | None = None) -> int:
    """Tries a release and says what was tried.

    Returns:
        0, since whatever fails raises.
    """
    options = arguments().parse_args(words)
    with tempfile.TemporaryDirectory(prefix="inferstack-release-") as name:
        folder = Path(name)
        dist = options.dist or built(folder)
        if options.keep:
            shutil.copytree(dist, options.keep, dirs_exist_ok=True)
        check(dist)
        wanted = list(product(pythons(options.python), options.dependencies or DEPENDENCIES))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(lambda it: tried(wheel_of(dist), it[0], it[1], folder), wanted):
                print(line, flush=True)
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.try_release", description=__doc__)
    parser.add_argument("--dist", type=Path, metavar="DIR", help="wheel and sdist (default: those of HEAD)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="copy what was built there")
    parser.add_argument("--python", action="append", metavar="VERSION", help="default: all installed ones")
    parser.add_argument("--dependencies", action="append", choices=DEPENDENCIES, help="default: both")
    return parser


# ---------------------------------------------------------------- build and check


def built(folder: Path) -> Path:
    """The wheel and the sdist of HEAD, once built to the same bytes in two places."""
    dist = build(clone(folder / "one"), folder / "dist")
    again = build(clone(folder / "another" / "place", umask=0o077), folder / "again")
    with tarfile.open(sdist_of(dist)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    from_sdist = build(unpacked, folder / "from-sdist", "wheel")
    same(wheel_of(dist), wheel_of(again), wheel_of(from_sdist))
    same(sdist_of(dist), sdist_of(again))
    for file in sorted(dist.iterdir()):
        print(f"{digest(file)}  {file.name}", flush=True)
    return dist


def clone(folder: Path, *, umask: int = 0o022) -> Path:
    """A clone of HEAD, with its tags, as another machine would make it."""
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, folder, umask=umask)
    return folder


def build(source: Path, target: Path, *targets: str) -> Path:
    """Builds wheel and sdist with the libraries that are installed here."""
    wanted = targets or ("wheel", "sdist")
    commands = [word for it in wanted for word in ("--target", it)]
    run(sys.executable, "-m", "hatchling", "build", *commands, "--directory", target, folder=source)
    return target


def same(first: Path, *others: Path) -> None:
    """Checks that files have the same bytes.

    Raises:
        SystemExit: they differ.
    """
    for other in others:
        if digest(first) != digest(other):
            sys.exit(f"{first} and {other} are not the same")


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def wheel_of(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


def sdist_of(dist: Path) -> Path:
    (found,) = dist.glob("*.tar.gz")
    return found


def check(dist: Path) -> None:
    """Asks twine whether PyPI would take the files, and show the README."""
    twine = ("tool", "run", "--quiet", "--from", _TWINE, "twine")
    run(uv(), *twine, "check", "--strict", wheel_of(dist), sdist_of(dist))


# ---------------------------------------------------------------- try


def pythons(wanted: list[str] | None) -> Iterator[tuple[str, Path]]:
    """Interpreters of these versions; without any named, of all supported versions that are installed."""
    for version in wanted or PYTHONS:
        python = interpreter(version)
        if python is not None:
            yield version, python
        elif wanted:
            sys.exit(f"no Python {version} is installed")
        else:
            print(f"Python {version}: not installed, not tried", flush=True)


def interpreter(version: str) -> Path | None:
    candidates = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if on_path := shutil.which(f"python{version}"):
        candidates.append(Path(on_path))
    for candidate in candidates:
        # pyenv has a name on the path for each version, which may only say that it is not chosen.
        if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def tried(wheel: Path, of: tuple[str, Path], dependencies: str, folder: Path) -> str:
    """Installs the wheel into an empty environment and uses it in a folder without a clone.

    Returns:
        A line about the versions of what matters most.
    """
    version, python = of
    folder = folder / f"{version}-{dependencies}"
    environment = folder / "environment"
    run(uv(), "venv", "--quiet", "--python", python, environment)
    install(wheel, environment / "bin" / "python", dependencies, folder)
    project = folder / "project"
    (project / "model_specs").mkdir(parents=True)
    shutil.copy(_SPEC, project / "model_specs")
    use(environment / "bin", project, version=wheel.name.split("-")[1])
    used = installed(environment / "bin" / "python")
    return f"Python {version}, {dependencies} dependencies: {used}"


def install(wheel: Path, python: Path, dependencies: str, folder: Path) -> None:
    """Installs the wheel with its extras, and the lowest or the newest versions that it allows."""
    into = ("pip", "install", "--quiet", "--python", python)
    if dependencies == "newest":
        run(uv(), *into, f"inferstack[{','.join(EXTRAS)}] @ {wheel.resolve().as_uri()}")
        return
    # To uv, only what is named is a direct dependency: what the wheel itself asks for is not.
    lowest = folder / "lowest.txt"
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    options = ("--quiet", "--resolution", "lowest-direct", "--only-binary", ":all:", "--python", python)
    run(uv(), "pip", "compile", *options, *extras, ROOT / "pyproject.toml", "--output-file", lowest)
    run(uv(), *into, "--requirement", lowest)
    run(uv(), *into, "--no-deps", wheel)


def use(programs: Path, project: Path, *, version: str) -> None:
    """Does what a user does first."""
    program = programs / "inferstack"
    printed = run(program, "--version", folder=project)
    if printed.split()[1] != version:
        sys.exit(f"{program} says that it is {printed}, and its wheel says {version}")
    run(program, "validate", "--strict", folder=project)
    run(program, "render", "--region", _REGION, "--out", "rendered", folder=project)
    run(programs / "python", "-m", "inferstack_stacks", folder=project)
    rendered, synthesized = (
        set(json.loads((project / made / "resnet-mme.template.json").read_text("utf-8"))["Resources"])
        for made in ("rendered", "cdk.out")
    )
    if rendered != synthesized:
        sys.exit(f"{program}: only rendered or only synthesized: {sorted(rendered ^ synthesized)}")
    start(programs, project / "started")


def start(programs: Path, folder: Path) -> None:
    """Starts a project, which passes its checks and its own test."""
    program = programs / "inferstack"
    run(program, "init", folder, "--yes")
    run(program, "validate", "--strict", folder=folder)
    run(program, "render", "--stage", "prod", "--out", "rendered", folder=folder)
    run(programs / "python", "-m", "unittest", "discover", "tests", folder=folder)


def installed(python: Path) -> str:
    found = json.loads(run(uv(), "pip", "list", "--quiet", "--format", "json", "--python", python))
    versions = {it["name"]: it["version"] for it in found}
    return ", ".join(f"{name} {versions[name]}" for name in ("aws-cdk-lib", "msgspec", "jsonschema", "numpy"))


def uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    return found or sys.exit("uv is not installed")


def run(*command: str | Path, folder: Path = ROOT, umask: int = 0o022) -> str:
    """Runs a command without this environment's sources; returns what it printed.

    Raises:
        SystemExit: it failed.
    """
    without = ("PYTHONPATH", "VIRTUAL_ENV", "SETUPTOOLS_SCM_PRETEND_VERSION")
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment["CDK_DEFAULT_REGION"] = _REGION
    done = subprocess.run(
        command, cwd=folder, env=environment, umask=umask, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
