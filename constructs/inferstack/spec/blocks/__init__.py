"""The spec format: one frozen class a block. Everything else about the format follows from these."""
