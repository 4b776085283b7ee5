"""The parser of libyaml, a C library; None if PyYAML was built without it."""

try:
    from yaml._yaml import CParser as CParser  # noqa: PLC0414 - readers take it from here
except ImportError:
    CParser = None  # type: ignore[assignment, misc]
