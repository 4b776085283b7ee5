"""What can be wrong with an archive, or with what is to go into one: IS989 to IS998.

IS991 is a rule, since a check of a spec reports it as well: of an existing repository.
"""

import msgspec

from inferstack.spec.problem import Severity

MISSING = "IS990"
OUTSIDE = "IS992"
UNFIT_NAME = "IS993"
CLASH = "IS994"
UNREADABLE = "IS995"
NOT_AN_ARCHIVE = "IS996"
STRAY_FOLDER = "IS997"
JUNK_INSIDE = "IS998"
POINTER = "IS989"

_AWS = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_LAYOUT = f"{_AWS}/deploy-models-frameworks-triton.html"
_SERVE = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
_CONTAINER = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
_LFS = "https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"
_OWN = "inferstack's archives"


class ArchiveCode(msgspec.Struct, frozen=True):
    """A code as the catalogue shows it; ``source`` is the page that it rests on."""

    code: str
    severity: Severity
    sentence: str
    source: str


def _error(code: str, sentence: str, source: str) -> ArchiveCode:
    return ArchiveCode(code, Severity.ERROR, sentence, source)


_ALL = (
    _error(MISSING, "What goes into an archive is there. `package` needs it, `validate` does not.", _OWN),
    _error(OUTSIDE, "The files of an archive come from the folder of the spec, or from one allowed.", _OWN),
    _error(UNFIT_NAME, "Paths in an archive lie in it, and any system can have them.", _OWN),
    _error(CLASH, "No two paths of an archive are the same, or differ in case only.", _OWN),
    _error(UNREADABLE, "Files can be read, and stay the same while they are packed.", _OWN),
    _error(NOT_AN_ARCHIVE, "A model archive is a tar compressed with gzip, whole and undamaged.", _CONTAINER),
    _error(STRAY_FOLDER, "No tool left a folder beside those of the models.", _SERVE),
    _error(POINTER, "What goes into an archive is the file, and not a pointer of Git LFS to it.", _LFS),
    ArchiveCode(JUNK_INSIDE, Severity.WARNING, "An archive has no files that tools left behind.", _LAYOUT),
)

ARCHIVE_CODES = {entry.code: entry for entry in _ALL}
"""What packing and looking into archives report, by code."""
