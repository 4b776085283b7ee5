"""The spec format: reading, checking, and the typed result.

    reading    text of YAML -> data that knows where it stands
    structure  does the data fit the format: yes or no, and if no, in words
    blocks     the format itself, as classes
    parts      what a typed spec says, part by part
    rules      what SageMaker demands beyond the format, by topic
    lock       what was uploaded for a spec
    report     problems as text, JSON, annotations

What they share stands beside them; :mod:`inferstack.spec.check` is the way of a spec through them.
"""
