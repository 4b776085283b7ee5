"""The import of CDK beside other work."""

from contextlib import suppress
from importlib import import_module
from threading import Thread

from inferstack.node_runtime import select_node


def begin_cdk_import() -> None:
    """Imports CDK in a thread. Whoever imports it meanwhile waits for that, as for any other module.

    Raises:
        NodeMissing: when there is no Node to run CDK on.
    """
    select_node()
    Thread(target=_import_cdk, name="import of aws_cdk").start()


def _import_cdk() -> None:
    # What fails here fails again for the first who imports it, and there it can be seen.
    with suppress(Exception):
        import_module("aws_cdk")
