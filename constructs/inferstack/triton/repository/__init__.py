"""Where model repositories come from: the ``triton`` block of a spec, or a folder that exists."""
