"""Specs in which every text tries to be markup, and their reviews."""

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from support.hostile import LIVE, TEXTS, Page, by_github, by_markdown_it, command_in
from support.resolving import BASES, merged

from inferstack.cli.review import as_json
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.problems import on_one_line
from inferstack.review import Review, review


def _texts() -> st.SearchStrategy[str]:
    return TEXTS.filter(lambda it: "\udcff" not in it)


HOSTILE = st.fixed_dictionaries(
    {},
    optional={
        "description": _texts(),
        "endpoint_name": _texts(),
        "tags": st.dictionaries(_texts(), _texts(), max_size=2),
        "ignore": st.lists(st.fixed_dictionaries({"code": st.just("IS870"), "reason": _texts()}), max_size=1),
        "model": st.fixed_dictionaries(
            {}, optional={"image": _texts(), "model_data_url": _texts().map(lambda it: f"s3://models/{it}")}
        ),
        "variant": st.fixed_dictionaries({}, optional={"instance_type": _texts(), "variant_name": _texts()}),
        "alarms": st.fixed_dictionaries(
            {
                "rules": st.lists(
                    st.fixed_dictionaries(
                        {
                            "metric_name": _texts(),
                            "namespace": st.just("Own"),
                            "statistic": st.just("Sum"),
                            "threshold": st.just(1),
                        },
                        optional={"alarm_name": _texts(), "alarm_description": _texts()},
                    ),
                    min_size=1,
                    max_size=2,
                )
            }
        ),
        "execution_role": st.fixed_dictionaries(
            {
                "statements": st.lists(
                    st.fixed_dictionaries(
                        {
                            "sid": _texts(),
                            "action": st.lists(_texts(), min_size=1),
                            "resource": st.lists(_texts(), min_size=1),
                        }
                    ),
                    max_size=2,
                )
            }
        ),
    },
)
FILES = _texts().map(lambda it: re.sub(r"[\x00/]", "", it)[:60]).filter(lambda it: it not in ("", ".", ".."))


def for_hostile_specs(test: Callable[[dict[str, Any], str], None]) -> Callable[[], None]:
    """Runs a test with many changes to a spec and names of its file: the arguments of :func:`reviewed`."""
    return settings(
        max_examples=200,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        # Making a failing spec smaller would take minutes.
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )(given(change=HOSTILE, name=FILES)(test))


def reviewed(change: dict[str, Any], name: str) -> Review:
    """The review of a hostile spec, at once as it is and as the change of a peaceful one."""
    whole = yaml.safe_load(BASES["single"])
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for place, data in (("base", whole), ("specs", merged(whole, change))):
            Path(place).mkdir()
            Path(place, f"a{name}.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), "utf-8")
        # As a text, it would be looked for among git's revisions each time.
        return review("specs", Path("base"))


# The tags of a comment, and of its parts that are folded.
OURS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "br"}
FOLDED = {"details", "summary", "ul", "li", "pre", "blockquote"}


def assert_only_text(found: Review) -> None:
    """Nothing in a report, in Markdown or JSON is markup or a command that we did not write."""
    json.loads(as_json(found))
    in_text = text(found)
    assert all(line == on_one_line(line) for line in in_text.splitlines())
    made = markdown(found)
    for printed in (in_text, made, as_json(found)):
        assert not [line for line in re.split("[\r\n]", printed) if command_in(line)]
    assert not [line for line in made.splitlines() if line.startswith("/")], "a quick action of GitLab"
    for parser in (by_github, by_markdown_it):
        page = Page(parser(made))
        assert set(page.tags) <= OURS | FOLDED
        assert page.attributes in ([], [("class", "language-mermaid")], [("lang", "mermaid")])
        assert page.open == []
        assert not [it for it in page.texts if LIVE.search(it)]
