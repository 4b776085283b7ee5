"""A picture of what exists, as a Mermaid flowchart, which GitHub and GitLab draw in a comment."""

from collections.abc import Iterator

from inferstack.cli.escaping import mermaid
from inferstack.cli.review.words import copies_text
from inferstack.endpoint.counts import counted
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import Picture
from inferstack.review import Review

_MOST_NODES = 60
"""With more, nobody sees anything."""


def diagram(review: Review) -> str | None:
    """Endpoints, variants and components, in a fenced block; None without any, or with too many."""
    found = [it.after for it in review.endpoints if it.after is not None and it.fate != "unchanged"]
    lines = [line for index, it in enumerate(found) for line in _endpoint(f"e{index}", it)]
    if not lines or len(lines) > 2 * _MOST_NODES:
        return None
    return "\n".join(["```mermaid", "flowchart LR", *lines, "```"])


def _endpoint(node: str, endpoint: Picture) -> Iterator[str]:
    yield f'  {node}(["{mermaid(endpoint.name)}"])'
    for index, fleet in enumerate(endpoint.fleets):
        below = f"{node}v{index}"
        yield f'  {below}["{mermaid(_fleet(fleet))}"]'
        yield f"  {node} {'-.->' if fleet.is_shadow else '-->'} {below}"
        for number, it in enumerate(endpoint.components):
            if it.variant == fleet.name:
                copies = f"{it.name}: {copies_text(it)}"
                yield f'  {below} --> {below}c{number}["{mermaid(copies)}"]'


def _fleet(fleet: Fleet) -> str:
    if fleet.instances is None:
        return f"{fleet.name}: serverless"
    kind = fleet.instance_types[0] if fleet.instance_types else "instances"
    return f"{fleet.name}: {counted(fleet.instances, f'x {kind}', f'x {kind}')}"
