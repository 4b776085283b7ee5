"""What can be wrong with an archive, or with what is to go into one: IS989 to IS998.

IS991 is a rule, since a check of a spec reports it as well: of an existing repository.
"""

from inferstack.spec.problem.codes import by_code, error, warning

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


ARCHIVE_CODES = by_code(
    error(
        MISSING, "Files that go into an archive must exist. `package` needs them, `validate` does not.", _OWN
    ),
    error(
        OUTSIDE,
        "The files of an archive must come from the folder of the spec, or from one that is allowed.",
        _OWN,
    ),
    error(UNFIT_NAME, "Paths in an archive must stay inside it, and be valid on any system.", _OWN),
    error(
        CLASH,
        "A path in an archive cannot occur twice, in another case, or as both a file and a folder.",
        _OWN,
    ),
    error(UNREADABLE, "Files must be readable, and must not change while they are packed.", _OWN),
    error(
        NOT_AN_ARCHIVE,
        "A model archive must be a tar compressed with gzip, complete and undamaged.",
        _CONTAINER,
    ),
    error(STRAY_FOLDER, "An archive cannot have folders that tools left beside those of the models.", _SERVE),
    error(POINTER, "What goes into an archive must be the file itself, not a Git LFS pointer to it.", _LFS),
    warning(JUNK_INSIDE, "An archive should not have files that tools left behind.", _LAYOUT),
)
"""What packing and looking into archives report, by code."""
