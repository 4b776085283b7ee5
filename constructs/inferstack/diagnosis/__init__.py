"""Why an endpoint does not start or answer: a verdict on a log, a FailureReason, a stack event or an answer.

    reading     bytes to lines: gzip, UTF-16, escapes of terminals, JSON of the AWS CLI, within limits
    signature   what single lines mean, read from ``signatures/*.toml``: every word that a verdict has
    extractors  what takes more than a pattern: tracebacks, Triton's table, refused settings, AWS's frames
    verdict     which of the clues is the cause, and how certain that is
    in_spec     the line of a spec that a clue leads to, and what `validate` says there

Nothing here asks AWS. A cause is certain only if the text says it, or if a problem of the spec agrees with a
line.
"""
