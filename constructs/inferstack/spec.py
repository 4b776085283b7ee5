"""The door to specs: read one with :func:`load_spec`, or make one from data with :func:`parse_spec`.

The classes that a spec consists of are in :mod:`inferstack.format`.
"""

from inferstack.check.load import LoadedSpec, load_spec, parse_spec
from inferstack.problems import Problem, SpecError

__all__ = ["LoadedSpec", "Problem", "SpecError", "load_spec", "parse_spec"]
