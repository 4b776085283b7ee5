from support.resolving import resolve

__all__ = ["resolve"]
