"""AWS's own image look-up, to compare ours with.

``sagemaker-core`` is installed for development without its dependencies (pandas, scipy, boto3 ...). Its
``image_uris`` module needs none of them to compute a URI, so it is loaded by itself: in place of the modules that it
imports, it gets the few real definitions that it calls, taken from their sources.
"""

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import botocore.loaders
import botocore.regions
import pytest

CORE = Path(str(distribution("sagemaker-core").locate_file("sagemaker/core")))


@pytest.fixture(scope="session")
def sdk_image_uri() -> Callable[..., str]:
    """``sagemaker.core.image_uris.retrieve``."""
    module = _alone(CORE / "image_uris.py", _stand_ins())
    module.config_for_framework = functools.cache(module.config_for_framework)
    module.logger.disabled = True
    retrieve: Callable[..., str] = module.retrieve
    return retrieve


def _alone(path: Path, stand_ins: dict[str, ModuleType]) -> Any:
    spec = importlib.util.spec_from_file_location("sdk_image_uris", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, stand_ins):
        spec.loader.exec_module(module)
    return module


def _stand_ins() -> dict[str, ModuleType]:
    common = _lifted("common_utils.py", ["get_instance_type_family", "_botocore_resolver"])
    common._botocore_resolver = functools.cache(common._botocore_resolver)
    families = ["GRAVITON_ALLOWED_TARGET_INSTANCE_FAMILY", "GRAVITON_ALLOWED_FRAMEWORKS"]
    stand_ins = {
        "": _module(common_utils=common),
        "fw_utils": _lifted("fw_utils.py", families),
        "jumpstart": _module(artifacts=None),
        "jumpstart.constants": _module(DEFAULT_JUMPSTART_SAGEMAKER_SESSION=None, JUMPSTART_LOGGER=None),
        "jumpstart.enums": _module(JumpStartModelType=_module(OPEN_WEIGHTS=None)),
        "jumpstart.utils": _module(is_jumpstart_model_input=lambda *_: False),
        "spark": _module(defaults=_module(SPARK_NAME="spark")),
        "workflow": _module(is_pipeline_variable=lambda _: False),
        "workflow.utilities": _module(override_pipeline_parameter_var=lambda function: function),
    }
    named = {f"sagemaker.core.{name}".rstrip("."): module for name, module in stand_ins.items()}
    return {"sagemaker": _module(), **named}


def _module(**members: Any) -> Any:
    module = ModuleType("stand_in")
    vars(module).update(members)
    return module


def _lifted(file: str, names: Iterable[str]) -> Any:
    """A module with only these functions and constants of one of the SDK's modules."""
    tree = ast.parse((CORE / file).read_text())
    tree.body = [node for node in tree.body if _name(node) in names]
    module = _module(re=re, botocore=botocore)
    exec(compile(tree, file, "exec"), vars(module))
    return module


def _name(node: ast.stmt) -> str | None:
    match node:
        case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None
