"""What pipelines use of the AWS CLI, by boto3: ``aws SERVICE OPERATION --option value --query … --output text``."""

import json
import sys

import boto3
import jmespath
from botocore.exceptions import ClientError


def main(service: str, operation: str, *words: str) -> None:
    """Calls AWS, and prints what the query finds in the answer."""
    options = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}
    query, form, region = (options.pop(name, usual) for name, usual in _OF_THE_CLI.items())
    given = {"".join(map(str.title, name.split("-"))): value for name, value in options.items()}
    try:
        answer = getattr(boto3.client(service, region_name=region), operation.replace("-", "_"))(**given)
    except ClientError as error:
        sys.exit(f"\n{error}")
    found = jmespath.search(query, answer)
    print(found if form == "text" else json.dumps(found, indent=4, default=str))


_OF_THE_CLI = {"query": "@", "output": "json", "region": None}

if __name__ == "__main__":
    main(*sys.argv[1:])
