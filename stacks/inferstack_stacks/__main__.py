"""`python -m inferstack_stacks`: synthesises the app and says what came of it. Needs no CDK CLI."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from inferstack.spec.document import relative_to_cwd
from inferstack_stacks.app import build_app

if TYPE_CHECKING:
    from aws_cdk import App

_HEADER = ("STACK", "KIND", "RESOURCES", "TEMPLATE")


def main() -> None:
    """Builds the app of `model_specs`, writes it to `cdk.out` and prints a table of the stacks."""
    print(table([_HEADER, *_rows(build_app())]))


def _rows(app: "App") -> Iterator[tuple[str, ...]]:
    from inferstack_stacks.endpoint_stack import EndpointStack  # noqa: PLC0415 - CDK is there by now

    folder = Path(app.synth().directory)
    for stack in app.node.children:
        if isinstance(stack, EndpointStack):
            template = folder / stack.template_file
            resources = json.loads(template.read_text(encoding="utf-8"))["Resources"]
            yield stack.stack_name, stack.kind, str(len(resources)), relative_to_cwd(str(template))


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows in columns that are as wide as their widest cell."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


if __name__ == "__main__":
    main()
