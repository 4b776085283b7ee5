"""From a path to plain data with positions, bounded in time and memory: bytes, text, YAML 1.2, tree."""
