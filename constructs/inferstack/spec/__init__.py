"""The spec format: reading, checking, and the typed result."""
