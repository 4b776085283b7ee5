"""The spec format: reading, checking, and the typed result.

    texts      what single texts say: placeholders, statistics, addresses, names of files
    problem    what is wrong, its codes, and the words for it
    reading    YAML text -> data with its positions in the file
    document   a file as that data, at one of its stages
    structure  does the data fit the format: yes or no, and if no, in words
    blocks     the format itself, as classes
    parts      what a typed spec says, part by part
    rules      what SageMaker demands beyond the format, by topic
    lock       what was uploaded for a spec
    report     problems as text, JSON, annotations

Each uses only those above it. :mod:`inferstack.spec.check` takes a spec through them, and
:mod:`inferstack.spec.in_stack` once more for what a stack of an app adds.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inferstack.spec.check import LoadedSpec, load_spec, parse_spec
    from inferstack.spec.problem import Problem, SpecError

__all__ = ["LoadedSpec", "Problem", "SpecError", "load_spec", "parse_spec"]

# Type checkers have seen the names above; if they saw this function too, they would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The names that a program needs. On demand: importing one package below must not import the rest."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from inferstack.spec import check, problem  # noqa: PLC0415

        return vars(problem)[name] if name in vars(problem) else vars(check)[name]


def __dir__() -> list[str]:
    # Names that are imported on demand are not in globals() yet, and completion in a shell asks here.
    return sorted({*globals(), *__all__})
