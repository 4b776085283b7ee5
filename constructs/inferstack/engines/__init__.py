"""What serves language models in AWS's images: vLLM, SGLang, LMI, TGI, TEI and llama.cpp, as data.

    engine     one description for each: its variables, and how its container turns them into settings
    tables     the options of each version, with what they accept
    values     whether an option accepts a text
    lmi        LMI's own options, and its names for options of vLLM
    properties the settings in a `serving.properties`
    arguments  the command line, or the settings, that a container makes from its environment
    settings   what a container sets, and each engine's name for the same thing
    gpus       how many GPUs an engine uses, and what a GPU must be able to do for it
    requests   the bodies that each engine takes at /invocations
    answers    what it answers there, or why that is no answer

    model_config   what the files of a model say of it
    describing     the small files that say it, from the folder of a whole model
    architectures  which models each version of vLLM runs
    kv_cache       the bytes of a token in the KV cache, where they can be known
    memory         what else takes memory of a GPU: weights, and a band for the rest
    start          how long a copy may take to start
    fit            which instance types hold a model, and how many requests

``data`` has one table for each engine, which ``python -m tools.generate engines`` makes from its releases;
``python -m tools.generate architectures`` makes that of the models.
"""
