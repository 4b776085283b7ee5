"""What serves language models in AWS's images: vLLM, SGLang, LMI, TGI, TEI and llama.cpp, as data.

    engine     one description for each: its variables, and how its container turns them into settings
    tables     the options of each version, with what they accept
    values     whether an option accepts a text
    arguments  the command line, or the settings, that a container makes from its environment
    settings   what a container sets, and each engine's name for the same thing

``data`` has one table for each engine, which ``python -m tools.generate engines`` makes from its releases.
"""
