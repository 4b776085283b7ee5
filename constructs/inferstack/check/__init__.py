"""What is wrong with a spec: the steps that it goes through, from text to a typed spec without errors.

    structure   does the data fit the schema, and if not, why
    references  placeholders and tokens that no deployment can fill in
    rules       what SageMaker requires beyond the schema, by topic
    lock        what was uploaded for a spec

:mod:`inferstack.check.load` takes a spec through them, and :mod:`inferstack.check.files` several at once.
"""
