"""Imports what this machine lacks as empty stand-ins, so that parsers of engines run without torch or a GPU.

Only for a process of its own: it changes what every further import finds.
"""

import importlib.metadata
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any, Union

from pydantic_core import CoreSchema, core_schema

_NEWEST = "99.0.0"


class _OfStandIns(type):
    """Makes the class of every name that is asked for, and lets it stand in annotations."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _OfStandIns(name, (_StandIn,), {"__module__": cls.__module__})
        setattr(cls, name, made)
        return made

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return Union[cls, other]  # noqa: UP007 - `|` would ask this method again

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __lt__(cls, _: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __call__(cls, *words: Any, **named: Any) -> Any:
        return _decorated(words, named) or super().__call__(*words, **named)


class _StandIn(metaclass=_OfStandIns):
    """A value, base class or decorator of whatever kind."""

    def __init__(self, *words: object, **named: object) -> None:
        pass

    def __init_subclass__(cls, **named: object) -> None:
        pass

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        return core_schema.any_schema()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn()

    def __call__(self, *words: Any, **named: object) -> Any:
        return _decorated(words, named) or _StandIn()

    def __getitem__(self, _: object) -> Any:
        return _StandIn()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __index__(self) -> int:
        return 0

    def __lt__(self, _: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __mul__(self, _: object) -> Any:
        return self

    __rmul__ = __truediv__ = __rtruediv__ = __add__ = __radd__ = __sub__ = __mul__


def _decorated(words: Sequence[object], named: Mapping[str, object]) -> object:
    """What a decorator gets, which it hands back; None for other calls."""
    return words[0] if len(words) == 1 and not named and isinstance(words[0], FunctionType) else None


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return _NEWEST
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_StandIn, name)


class _Finder(MetaPathFinder, Loader):
    def __init__(self, real: str, stubbed: Sequence[str]) -> None:
        self.real, self.stubbed = real, tuple(stubbed)

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        top, _, below = fullname.partition(".")
        if top == self.real:
            is_missing = f"{fullname}.".startswith(self.stubbed)
        elif below:
            is_missing = isinstance(sys.modules.get(top), _Module)
        else:
            is_missing = top not in sys.stdlib_module_names
        return ModuleSpec(fullname, self, is_package=True) if is_missing else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        made = _Module(spec.name)
        made.__path__ = []
        return made

    def exec_module(self, module: ModuleType) -> None:
        pass


class _First(_Finder):
    """Comes before the modules that are there."""

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        return super().find_spec(fullname, path) if fullname.startswith(f"{self.real}.") else None


def stub_imports(real: str, stubbed: Sequence[str]) -> None:
    """From now on, what is not installed is imported as stand-ins, and so are the ``stubbed`` modules of a
    package that is.
    """
    sys.meta_path.insert(0, _First(real, [f"{it}." for it in stubbed]))
    sys.meta_path.append(_Finder(real, ()))
    installed = importlib.metadata.version

    def version(distribution_name: str) -> str:
        try:
            return installed(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            return _NEWEST

    importlib.metadata.version = version
