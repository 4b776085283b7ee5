"""``inferstack schema``: the format for editors and other tools."""

import argparse

from inferstack.format.schema import published_schema_text


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Adds nothing: ``inferstack schema`` has no arguments."""


def run(_: argparse.Namespace) -> int:
    """Print the JSON Schema (draft 2020-12) of the spec format, for editors and other tools."""
    print(published_schema_text(), end="")
    return 0
