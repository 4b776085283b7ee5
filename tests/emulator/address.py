"""Where the emulator listens, for those of its parts that ask it themselves."""

_listening: list[str] = []


def listen_at(url: str) -> None:
    """Notes the server's address."""
    _listening[:] = [url]


def server_url() -> str:
    """The address of the server in this process."""
    return _listening[0]
