"""How a KMS key is named: by its id or ARN, by an alias or the ARN of that.

https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#key-id
"""

_ALIAS = "alias/[A-Za-z0-9/_-]+"
KMS_KEY = rf"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{{12}}:(key/[A-Za-z0-9-]+|{_ALIAS})|[A-Za-z0-9-]+|{_ALIAS})"
"""The form of all four, of a whole text."""
