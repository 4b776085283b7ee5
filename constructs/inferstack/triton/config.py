"""Triton's model configuration: as plain data, as its protocol buffer, as text of a ``config.pbtxt``."""
