"""Writes the specs of the family: `python -m benchmarks.specs FOLDER COUNT`."""

import argparse
from dataclasses import asdict
from functools import cache
from pathlib import Path
from string import Template

from benchmarks.family import Endpoint, family

_TEMPLATES = Path(__file__).with_name("spec_templates")


def spec_text(endpoint: Endpoint) -> str:
    """The spec of an endpoint as a user would write it: about sixty lines."""
    return _template(endpoint.kind).substitute(asdict(endpoint))


def write_specs(folder: Path, count: int) -> Path:
    """Writes specs for the first ``count`` endpoints into a new folder, which it returns."""
    folder.mkdir(parents=True)
    for endpoint in family(count):
        (folder / f"{endpoint.name}.yaml").write_text(spec_text(endpoint), encoding="utf-8")
    return folder


@cache
def _template(kind: str) -> Template:
    return Template(_TEMPLATES.joinpath(f"{kind}.yaml").read_text(encoding="utf-8"))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="must not exist yet")
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    print(write_specs(options.folder, options.count))


if __name__ == "__main__":
    _main()
