"""``inferstack render``: the templates themselves, made without CDK and Node."""

import argparse


def render(options: argparse.Namespace) -> int:
    """Print the CloudFormation template of a spec, or write those of several specs to a folder."""
    from inferstack.cli.render_run import run  # noqa: PLC0415 - brings the making of templates

    return run(options)
