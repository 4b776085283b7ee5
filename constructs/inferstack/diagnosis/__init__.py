"""Why an endpoint does not start or answer: a verdict on a log, a FailureReason, a stack event or an answer.

    reading     bytes to lines: gzip, UTF-16, escapes of terminals, JSON of the AWS CLI, within limits
    signature   what single lines mean, read from ``signatures/*.toml``: every word that a verdict has
    extractors  what takes more than a pattern: tracebacks, Triton's table, refused settings, AWS's frames
    clues       all that a text says, and which of it is likeliest the cause
    in_spec     the line of a spec that a clue leads to, and what `validate` says there
    verdict     the answer: the best of the clues, how certain it is, and what to do

Nothing here asks AWS. A cause is certain only if the text says it, or if a problem of the spec agrees with a
line.
"""
