"""Imports CDK in parallel with other work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread


@contextmanager
def cdk_import_beside() -> Iterator[Callable[[], bool]]:
    """Imports CDK in a thread while the block runs, and says whether it still does. Code in the block that
    imports it, too, waits for that.

    The import mostly waits for Node. Two threads cannot talk to Node at once: each might wait for an answer
    that the other has read. So the block does not end before the import, and code in the block must not
    import anything else that talks to Node, such as `constructs`, before `aws_cdk`.
    """
    # First and alone: Node starts right after this import, so everything else waits less for it.
    _import("jsii")
    thread = Thread(target=_import, args=("aws_cdk",), name="import of aws_cdk")
    thread.start()
    try:
        yield thread.is_alive
    finally:
        thread.join()


def _import(name: str) -> None:
    # An import that fails here fails again at the next attempt, outside the thread, where the error is seen.
    with suppress(Exception):
        import_module(name)
