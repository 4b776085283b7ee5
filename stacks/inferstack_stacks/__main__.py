"""`python -m inferstack_stacks`: synthesizes the app and prints the result. Needs no CDK CLI."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from inferstack.cli.terminal import table
from inferstack.source.spec_file import relative_to_cwd
from inferstack_stacks.app import build_app

if TYPE_CHECKING:
    from aws_cdk import App

_HEADER = ("STACK", "KIND", "RESOURCES")
_TEMPLATE = ".template.json"


def main() -> None:
    """Builds the app of `model_specs`, writes it to `cdk.out` and prints a table of the stacks."""
    app = build_app()
    folder = Path(app.synth().directory)
    print(*table([_HEADER, *_rows(app, folder)]), sep="\n")
    print(f"templates: {relative_to_cwd(str(folder))}/STACK{_TEMPLATE}")


def _rows(app: "App", folder: Path) -> Iterator[tuple[str, ...]]:
    from inferstack_stacks.endpoint_stack import EndpointStack  # noqa: PLC0415 - starts Node, as `build_app` did

    for stack in app.node.children:
        if isinstance(stack, EndpointStack):
            template = (folder / stack.template_file).read_text(encoding="utf-8")
            # The file distinguishes stacks that have one name in several regions, as in the CDK CLI.
            name = stack.template_file.removesuffix(_TEMPLATE)
            yield name, stack.kind, str(len(json.loads(template)["Resources"]))


if __name__ == "__main__":
    main()
