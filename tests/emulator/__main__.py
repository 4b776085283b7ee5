"""Runs the emulator until it is interrupted: ``PYTHONPATH=tests:. python -m emulator --port 5000``."""

import argparse
import signal
import threading

from emulator.server import running


def main() -> None:
    """Prints the address, then serves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")
    arguments = parser.parse_args()
    stop = threading.Event()
    for it in (signal.SIGINT, signal.SIGTERM):
        signal.signal(it, lambda *_: stop.set())
    with running(arguments.port) as url:
        print(url, flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
