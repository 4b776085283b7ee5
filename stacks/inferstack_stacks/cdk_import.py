"""The import of CDK beside other work."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread


@contextmanager
def cdk_import_beside() -> Iterator[None]:
    """Within the block CDK is imported in a thread. Whoever imports it there waits for that.

    It is mostly waiting for Node, with which two threads cannot speak at once: each could wait for the answer
    that the other one has read. So it ends with the block, where nobody imports, say, `constructs` first.
    """
    # First and alone: right after it Node starts, which the rest then waits for the less.
    _import("jsii")
    thread = Thread(target=_import, args=("aws_cdk",), name="import of aws_cdk")
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _import(name: str) -> None:
    # What fails here fails again for the first who imports it, and there it can be seen.
    with suppress(Exception):
        import_module(name)
