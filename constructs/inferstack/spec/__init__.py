"""The spec format: reading, checking, and the typed result.

    texts      what single texts say: placeholders, statistics, addresses
    problem    what is wrong, its codes, and the words for it
    reading    text of YAML -> data that knows where it stands
    document   a file as that data, at one of its stages
    structure  does the data fit the format: yes or no, and if no, in words
    blocks     the format itself, as classes
    parts      what a typed spec says, part by part
    rules      what SageMaker demands beyond the format, by topic
    lock       what was uploaded for a spec
    report     problems as text, JSON, annotations

Each uses those above it. :mod:`inferstack.spec.check` is the way of a spec through them.
"""
