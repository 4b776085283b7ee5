"""A project of a user's own: the files that `inferstack init` writes, and later compares and updates.

    answers.py       what it asks for
    files.py         the files that follow from the answers
    requirements.py  the packages that they need, at the versions of this environment
    state.py         what has become of each file since it was written
    writing.py       writes all files, or none

The folder `files` holds the files as they are written, but for marks such as ``@{region}``: those in
`always`, and those of the kind and of the CI system. `dot_` stands for a dot at the beginning of a name, and
`.in` keeps programs from being taken for modules of this package. Those that repeat another file of the
repository are copied by `python -m tools.generate project`.

copier would update a project by merging, but it needs the templates in a git repository with a tag for each
version, git on the user's machine and, to update, the network; and it brings a dozen packages (Jinja,
pydantic, a kit for prompts). Here a digest of each file shows whether the user has changed it. If not, it is
replaced; if so, it is left alone, and the difference shown.
"""
