"""Problems as text for people, and in formats that programs read.

Each format has a module here, with a function that turns what was found into the whole output, which ends in
a line break unless it is empty. A command needs only one format, so only that module is imported.
"""

from inferstack.spec.report.plain import text
from inferstack.spec.report.words import Findings, summary

__all__ = ["FORMATS", "Findings", "in_format", "summary", "text"]

FORMATS = ("text", "json", "github", "gitlab", "sarif", "markdown")
"""The formats, by their names on the command line."""


def in_format(form: str, found: Findings) -> str:
    """The whole output in one of :data:`FORMATS`.

    Raises:
        ValueError: when the format is none of these.
    """
    match form:
        case "json":
            from inferstack.spec.report.as_json import as_json as write  # noqa: PLC0415
        case "github":
            from inferstack.spec.report.github import github as write  # noqa: PLC0415
        case "gitlab":
            from inferstack.spec.report.gitlab import gitlab as write  # noqa: PLC0415
        case "sarif":
            from inferstack.spec.report.sarif import sarif as write  # noqa: PLC0415
        case "markdown":
            from inferstack.spec.report.markdown import markdown  # noqa: PLC0415

            return markdown(found)
        case "text":
            write = text
        case _:
            raise ValueError(f"{form} is none of {', '.join(FORMATS)}")
    return write(found.problems)
