"""Generates the skill for coding agents: what inferstack is for, its commands, formats and exit statuses.

The words are in tools/skill.md. Commands and options come from the program's own help, formats and fields
from a report that it prints.
The form is that of https://agentskills.io/specification.
"""

import argparse
import json
import re
from collections.abc import Iterator

import inferstack.cli
from inferstack.check.files import check_files
from inferstack.cli.arguments import parser_of, whole_parser
from inferstack.cli.report import FORMATS, Findings, in_format
from inferstack.facts.kinds import KINDS
from inferstack.problems import in_file_order
from tools.generated_files import ROOT, Contents, generated_by
from tools.markdown import cell, table

FOLDER = ROOT / "skills" / "inferstack"
SKILL, COMMANDS = FOLDER / "SKILL.md", FOLDER / "references" / "commands.md"
_CARELESS = "docs/examples/careless.yaml"
_SHOWN = "IS510"
"""The problem of that spec that the skill shows."""

_GENERATED = f"{generated_by('skill')}\n"
_TEMPLATE = ROOT / "tools" / "skill.md"
_MARK = re.compile(r"@\{(\w+)\}")


def _skill() -> str:
    line, problem = _reports()
    parsers = parser_of([])[0]
    values = {
        "generated": _GENERATED,
        "kinds": ", ".join(f"`{kind.name}`" for kind in KINDS),
        "shown": _SHOWN,
        "line": line,
        "problem": problem,
        "formats": ", ".join(f"`{it}`" for it in FORMATS),
        "statuses": table(("Status", "Meaning"), _statuses()),
        "commands": table(("Command", "Does"), ((f"`{name}`", it) for name, it in _helps(parsers))),
    }
    return _MARK.sub(lambda mark: values[mark[1]], _TEMPLATE.read_text("utf-8"))


def _reports() -> tuple[str, str]:
    """One problem as text and as JSON."""
    problems = [it for it in in_file_order(check_files([ROOT / _CARELESS])) if it.code == _SHOWN]
    found = Findings(problems, 1, [])
    line, written = (in_format(form, found).replace(f"{ROOT}/", "") for form in ("text", "json"))
    (fields,) = json.loads(written)
    return line.strip(), json.dumps([fields], indent=1, ensure_ascii=False)


def _statuses() -> Iterator[tuple[str, str]]:
    """From the sentence of the program's own documentation."""
    said = " ".join(str(inferstack.cli.__doc__).partition("Exit status: ")[2].split()).rstrip(".")
    for part in said.split(", "):
        status, _, meaning = part.partition(" ")
        yield status, meaning


def _helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """The commands and their lines of help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((it.dest, cell(str(it.help))) for it in action._choices_actions)


# ---------------------------------------------------------------- all options


def _reference() -> str:
    parser = whole_parser()
    commands = parser_of([name for name, _ in _helps(parser)])[1]
    parts = (_section(name, command) for name, command in commands.items())
    return f"# The commands of inferstack\n\n{_GENERATED}\n" + "\n".join(parts)


def _section(name: str, command: argparse.ArgumentParser) -> str:
    described = " ".join(str(command.description).split())
    rows = [_row(it) for it in command._actions if "--help" not in it.option_strings]
    arguments = f"\n{table(('Argument', 'Meaning'), rows)}" if rows else ""
    return f"## inferstack {name}\n\n{described}\n{arguments}"


def _row(action: argparse.Action) -> tuple[str, str]:
    # Not argparse's own text: each version of Python wraps and orders it in its own way.
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    said = cell(str(action.help or ""))
    # With a word of its own for the value, the help names the choices.
    listed = action.choices is not None and action.metavar is None
    choices = ", ".join(f"`{it}`" for it in action.choices or ()) if listed else ""
    required = "required" if action.required and action.option_strings else ""
    words = " ".join(filter(None, (", ".join(action.option_strings), value)))
    many = "…" if action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction) else ""
    return f"`{words}`{many}", "; ".join(filter(None, (said, choices and f"one of {choices}", required)))


def generate() -> Contents:
    return {SKILL: _skill(), COMMANDS: _reference()}
