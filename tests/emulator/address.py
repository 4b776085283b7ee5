"""Where the emulator listens, for those parts of it that send requests to it themselves."""

_listening: list[str] = []


def listen_at(url: str) -> None:
    """Stores the server's address."""
    _listening[:] = [url]


def server_url() -> str:
    """The address of the server in this process."""
    return _listening[0]
