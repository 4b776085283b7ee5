"""Files that tools leave behind in folders and that do not belong in an archive.

Some only take room; a stray folder beside the model's keeps the container from starting.
"""

JUNK = {
    ".ipynb_checkpoints": "copies that Jupyter keeps",
    "__MACOSX": "left by macOS's archiver",
    ".DS_Store": "a view of macOS's Finder",
    "Thumbs.db": "previews of Windows",
    "desktop.ini": "a view of Windows",
    "__pycache__": "bytecode of another Python",
    ".git": "version control",
    ".gitignore": "version control",
    ".gitattributes": "version control",
    ".gitkeep": "keeps an empty folder in git",
}
"""Names of files and folders, and what they are."""

_APPLE_DOUBLE = "._"


def why_junk(path: str) -> str | None:
    """Why a file or folder of this path does not belong in an archive; None when it may be there."""
    return next(filter(None, map(_why_junk, path.split("/"))), None)


def _why_junk(name: str) -> str | None:
    if name.startswith(_APPLE_DOUBLE):
        return "attributes that macOS keeps beside a file"
    return JUNK.get(name)
