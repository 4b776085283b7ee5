"""A user's project, and the real CDK CLI that deploys it to an emulated AWS."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emulator.clients import ACCOUNT, EmulatedAws
from emulator.deploying import deploy

from tools.npm import command, node

ROOT = Path(__file__).parents[2]
EXECUTION_POLICY = ROOT / "docs" / "pipelines" / "iam" / "execution-policy.json"
CLI = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"
_QUIET = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    # Makes the CLI print progress line by line, and everything to standard output.
    "CI": "true",
}
_DEPLOY = ("deploy", "--app", "cdk.out", "--all", "--concurrency", "5", "--require-approval", "never")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    status: int
    output: str

    def lines(self, *starts: str) -> list[str]:
        """The lines that begin like that."""
        return [line for line in self.output.splitlines() if line.startswith(starts)]


def add_program(folder: Path, name: str, script: str) -> None:
    """Creates a program in a folder that is meant for PATH."""
    path = folder / name
    path.write_text(f"#!/usr/bin/env bash\nset -e\n{script}\n", "utf-8")
    path.chmod(0o755)


def add_runtimes(folder: Path) -> None:
    """Adds the Python of this process, and the Node that the project uses."""
    add_program(folder, "python3", f'exec "{sys.executable}" "$@"')
    add_program(folder, "node", f'exec "{node()}" "$@"')
    add_program(folder, "npx", f'exec {" ".join(command("npx"))} "$@"')


def bootstrap(aws: EmulatedAws) -> None:
    """Creates what `cdk bootstrap` does, from the CLI's own template, without another process for each account."""
    template = json.loads(_bootstrap_template())
    template["Parameters"]["CloudFormationExecutionPolicies"]["Default"] = _execution_policy(aws)
    assert deploy(aws, "CDKToolkit", template) == "CREATE_COMPLETE"


@cache
def _bootstrap_template() -> str:
    show = [node(), str(CLI), "--no-notices", "bootstrap", "--show-template", "--json"]
    return subprocess.run(show, capture_output=True, text=True, check=True, timeout=180).stdout


def _execution_policy(aws: EmulatedAws) -> str:
    policy = aws.client("iam").create_policy(
        PolicyName="inferstack-execution", PolicyDocument=EXECUTION_POLICY.read_text("utf-8")
    )
    return str(policy["Policy"]["Arn"])


class Project:
    """A folder with specs, an app and the CDK CLI."""

    def __init__(self, folder: Path, aws: EmulatedAws) -> None:
        assert CLI.exists(), "the CDK CLI is missing: `make test-deploy` installs it, and `npm ci`"
        self.folder, self.aws = folder / "project", aws
        self._programs, self._home = folder / "programs", folder / "home"
        for path in (self.folder / "model_specs", self._programs):
            path.mkdir(parents=True)
        for name in ("app.py", "cdk.json"):
            shutil.copy(ROOT / name, self.folder)
        add_runtimes(self._programs)

    def write(self, specs: Mapping[str, str]) -> None:
        """Writes specs, replacing those that were there."""
        shutil.rmtree(self.folder / "model_specs")
        for name, text in specs.items():
            path = self.folder / "model_specs" / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")

    def environment(self) -> dict[str, str]:
        """What a user's shell has: keys, the address of AWS, and the programs."""
        return {
            **os.environ,
            **self.aws.environment(),
            **_QUIET,
            # The CLI stores there which account a key belongs to.
            "CDK_HOME": str(self._home),
            "PATH": f"{self._programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}/constructs:{ROOT}/stacks",
        }

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts the CLI."""
        return subprocess.Popen(
            [node(), str(CLI), "--no-notices", *arguments],
            cwd=self.folder,
            env={**self.environment(), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def start_deploying(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts deploying all of `cdk.out`."""
        return self.start(*_DEPLOY, *arguments, **environment)

    def cdk(self, *arguments: str, **environment: str) -> Ran:
        """Runs the CLI to its end."""
        with self.start(*arguments, **environment) as process:
            output, _ = process.communicate(timeout=180)
        return Ran(process.returncode, output)

    def bootstrap(self) -> Ran:
        """Creates what CDK needs in the account, with CloudFormation's permissions as in our documentation."""
        rights = ("--cloudformation-execution-policies", _execution_policy(self.aws))
        return self.cdk("bootstrap", "--app", "", f"aws://{ACCOUNT}/{self.aws.region}", *rights)

    def synth(self, *arguments: str) -> None:
        """Writes `cdk.out`, without aws-cdk-lib's own check of templates, which takes longer than everything else."""
        ran = self.cdk("synth", "--quiet", "--no-validation", *arguments)
        assert ran.status == 0, ran.output

    def deploy(self, *arguments: str) -> Ran:
        """Deploys all of `cdk.out`."""
        return self.cdk(*_DEPLOY, *arguments)

    def inferstack(self, *arguments: str) -> Ran:
        """Runs `inferstack` in the project."""
        done = subprocess.run(
            ["inferstack", *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout)
