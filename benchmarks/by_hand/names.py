"""Names that several modules need, and the logical ids of inferstack's templates."""

import hashlib

VARIANT = "AllTraffic"
TOPIC = "arn:aws:sns:us-east-1:111122223333:ml-oncall"
REGISTRY = "763104351884.dkr.ecr.us-east-1.amazonaws.com"


def suffix(title: str, *identity: str) -> str:
    """`Llama2Europe376179AD` for `llama2-europe`: the end of a logical id."""
    words = "".join(word[:1].upper() + word[1:] for word in title.split("-"))
    return words + hashlib.sha256("/".join(identity).encode()).hexdigest()[:8].upper()
