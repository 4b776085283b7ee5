"""How a KMS key can be named: by its ID, its ARN, an alias, or the alias's ARN.

https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#key-id
"""

_ALIAS = "alias/[A-Za-z0-9/_-]+"
KMS_KEY = rf"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{{12}}:(key/[A-Za-z0-9-]+|{_ALIAS})|[A-Za-z0-9-]+|{_ALIAS})"
"""A pattern for all four, to match a whole text."""
