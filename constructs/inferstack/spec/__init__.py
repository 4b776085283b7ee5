"""The spec format: reading, checking, and the typed result.

    texts      what single texts say: placeholders, statistics, addresses
    problem    what is wrong, its codes, and the words for it
    reading    text of YAML -> data that knows where it stands
    document   a file as that data, at one of its stages
    structure  does the data fit the format: yes or no, and if no, in words
    blocks     the format itself, as classes
    parts      what a typed spec says, part by part
    rules      what SageMaker demands beyond the format, by topic
    lock       what was uploaded for a spec
    report     problems as text, JSON, annotations

Each uses those above it. :mod:`inferstack.spec.check` is the way of a spec through them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inferstack.spec.check import LoadedSpec, load_spec, parse_spec
    from inferstack.spec.problem import Problem, SpecError

__all__ = ["LoadedSpec", "Problem", "SpecError", "load_spec", "parse_spec"]

# Type checkers have seen them above, and would take any name for one that is found here.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What a program needs of specs. On demand: whoever imports a room of these brings no other."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from inferstack.spec import check, problem  # noqa: PLC0415

        return vars(problem)[name] if name in vars(problem) else vars(check)[name]


def __dir__() -> list[str]:
    # What is imported on demand is not there yet, and who completes names looks here.
    return sorted({*globals(), *__all__})
