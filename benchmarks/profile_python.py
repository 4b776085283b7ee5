"""Where Python's time goes: `python -m benchmarks.profile_python COMMAND`, of `app`, `validate`, `render`.

pyinstrument is no dependency of ours: `pip install --target ANYWHERE pyinstrument`, and name the folder.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.surroundings import CONSTRUCTS, INFERSTACK, ROOT, STACKS, environment, found_in, specs_folder

_SHOWN = ("-m", "pyinstrument", "--interval", "0.0005")


def _program(command: str, specs: list[str], runner: Path) -> list[str]:
    if command == "app":
        return [str(ROOT / "app.py")]
    runner.write_text(INFERSTACK, encoding="utf-8")
    folder = ["--out", "rendered"] if command == "render" else []
    return [str(runner), command, *specs, *folder]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("app", "validate", "render"))
    parser.add_argument("--specs", type=int, default=100)
    parser.add_argument(
        "--pyinstrument", metavar="FOLDER", type=Path, help="where it is installed, if not here"
    )
    options = parser.parse_args()
    folders = [CONSTRUCTS, STACKS, *([options.pyinstrument] if options.pyinstrument else [])]
    surrounding = environment() | {"CDK_VALIDATION": "false"} | found_in(*folders)
    with specs_folder(options.specs) as folder:
        specs = sorted(str(file.relative_to(folder)) for file in (folder / "model_specs").iterdir())
        program = _program(options.command, specs, folder / "run.py")
        command = [sys.executable, *_SHOWN, *program]
        sys.exit(subprocess.run(command, cwd=folder, env=surrounding, check=False).returncode)


if __name__ == "__main__":
    _main()
