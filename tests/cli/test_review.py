"""``inferstack review``: what it prints, what it fails on, and that no spec can make markup of it."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace
from support.hostile import Page, by_github
from support.hostile_specs import FOLDED, OURS, reviewed
from support.resolving import BASES, merged
from support.reviews import CASES, EXAMPLES, PRICES, all_examples

from inferstack.cli import main
from inferstack.cli.review import as_json
from inferstack.cli.review.markdown import LONGEST, markdown
from inferstack.cli.review.text import text
from inferstack.endpoint.place import Place
from inferstack.review import Finding, Quota, Review, review


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a spec, a base of it, and prices."""
    monkeypatch.chdir(tmp_path)
    for name in ("model_specs", "base"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.yaml").write_text(BASES["single"])
    prices = {"currency": "USD", "read": "2026-01-01", "source": "here", "hosting": {"ml.g5.12xlarge": "7"}}
    (tmp_path / "prices.json").write_text(json.dumps({"regions": {"us-east-1": prices}}))
    return tmp_path / "model_specs" / "one.yaml"


def change(spec: Path, **changes: Any) -> None:
    spec.write_text(yaml.safe_dump(merged(yaml.safe_load(BASES["single"]), changes), sort_keys=False))


def run(*arguments: str) -> int:
    return main(["review", "--region", "us-east-1", "--prices", "prices.json", *arguments])


def test_without_a_base_it_says_what_will_exist(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    said = capsys.readouterr()
    first, _, header, row, *_ = said.out.splitlines()
    assert first == "1 endpoint"
    assert header.split() == ["ENDPOINT", "INSTANCES:", "MIN-START-MAX", "USD", "AN", "HOUR"]
    assert row.split() == ["one", "2", "ml.g5.12xlarge", "14.00"]
    assert "ml.g5.12xlarge for endpoint usage  2       4" in said.out
    assert said.err == ""


def test_the_table_names_the_currency_of_what_is_gone(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = yaml.safe_load(BASES["single"]) | {"endpoint_name": "two"}
    Path("base/two.yaml").write_text(yaml.safe_dump(two))
    change(one, variant={"instance_type": "ml.g5.xlarge"})
    assert run("--base", "base") == 0
    lines = capsys.readouterr().out.splitlines()
    [header, *rows] = [line.split() for line in lines[2:6]]
    assert header[-3:] == ["USD", "AN", "HOUR"]
    assert [row[-3:] for row in rows] == [["14.00", "→", "-"], ["14.00", "→", "-"], ["28.00", "→", "-"]]
    assert run("--base", "base", "--format", "markdown") == 0
    assert "| USD an hour |" in capsys.readouterr().out


def test_amounts_in_several_currencies_name_them(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prices = json.loads(Path("prices.json").read_text())
    prices["regions"]["eu-west-1"] = prices["regions"]["us-east-1"] | {"currency": "EUR"}
    Path("prices.json").write_text(json.dumps(prices))
    for folder, region in (("base", "us-east-1"), ("model_specs", "eu-west-1")):
        image = f"111122223333.dkr.ecr.{region}.amazonaws.com/net:1"
        change(Path(folder, "one.yaml"), env={"region": region}, model={"image": image})
    assert run("--base", "base") == 0
    said = capsys.readouterr().out
    assert "14.00 USD → 14.00 EUR" in said
    assert "  AN HOUR\n" in said


def test_nothing_changes(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--base", "base") == 0
    assert capsys.readouterr().out == "1 endpoint against `base`: 1 unchanged\n\nnothing changes: one\n"


def test_nothing_is_said_to_change_only_where_all_specs_can_be_read(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one.with_name("two.yaml").write_text("kind: [")
    assert run("--base", "base") == 1
    assert "\nunchanged: one\n" in capsys.readouterr().out


def test_what_the_spec_ignores_is_counted(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(one, variant={"initial_instance_count": 3}, ignore=["IS870"])
    assert run("--base", "base") == 0
    assert "1 endpoint against `base`: 1 updated; 1 ignored\n" in capsys.readouterr().out
    assert run("--base", "base", "--format", "html") == 0
    assert "No errors, no warnings but 1 ignored</h1>" in capsys.readouterr().out


def test_a_number_stays_with_its_unit() -> None:
    ends = [line for case in CASES for line in text(case.review()).splitlines()]
    assert [line for line in ends if re.match(r"\s*(%|ms|s|GiB|MB)\b", line)] == []
    assert not any("\N{NO-BREAK SPACE}" in line for line in ends)


def test_what_changes_is_said_and_that_there_is_no_more(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, variant={"initial_instance_count": 3})
    assert run("--base", "base") == 0
    said = capsys.readouterr().out
    assert "1 endpoint against `base`: 1 updated\n" in said
    assert re.search("^one +updated +2 → 3 ml.g5.12xlarge +14.00 → 21.00$", said, re.MULTILINE)
    assert "changes     replaces EndpointConfig; updates Endpoint; nothing else changes" in said


def test_it_fails_on_errors_of_specs_and_on_what_aws_refuses(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, endpoint_name="ONE")
    assert run("--base", "base") == 1
    assert "refused: ONE IS864 " in capsys.readouterr().out
    change(one, endpoint_nam="one")
    assert run("--base", "base") == 1
    assert "invalid: IS101 model_specs/one.yaml:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("policy", "status"),
    [
        ("updated", 1),
        ("cost-per-hour=20.99", 1),
        ("cost-per-hour=21", 0),
        ("role-widened", 0),
        ("replaced", 0),
    ],
)
def test_a_policy_fails_on_what_it_names(
    policy: str, status: int, one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, variant={"initial_instance_count": 3})
    assert run("--base", "base", "--fail-on", policy) == status
    assert (f"not allowed here: {policy}: one: " in capsys.readouterr().err) == bool(status)


def test_what_a_spec_ignores_does_not_pass_a_policy(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ignored = [{"code": "IS870", "reason": "the quota is large"}]
    change(one, variant={"initial_instance_count": 3}, ignore=ignored)
    assert run("--base", "base", "--fail-on", "updated") == 1
    found = capsys.readouterr()
    assert "check the quota (ignored" in found.out
    assert "1 warning" not in found.out
    assert "not allowed here: updated: one: " in found.err


def test_a_policy_is_about_what_a_change_brings(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    advised = yaml.safe_load(BASES["single"])
    advised["endpoint_name"] = "two"
    advised["variant"]["initial_instance_count"] = 1
    for folder in ("base", "model_specs"):
        Path(folder, "two.yaml").write_text(yaml.safe_dump(advised))
    change(one, variant={"initial_instance_count": 3})
    assert run("--base", "base", "--fail-on", "cost-per-hour=1", "--fail-on", "capacity") == 1
    assert capsys.readouterr().err.splitlines() == [
        "not allowed here: cost-per-hour=1: one: up to 21.00 USD an hour",
        "not allowed here: capacity: one: the instances of `AllTraffic`: 2 x ml.g5.12xlarge → 3 x ml.g5.12xlarge",
    ]
    assert run("--fail-on", "cost-per-hour=1") == 1
    assert "two: up to 7.00 USD an hour" in capsys.readouterr().err


def test_without_a_price_nobody_knows_whether_it_is_too_dear(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, variant={"instance_type": "ml.g5.xlarge"})
    assert run("--fail-on", "cost-per-hour=1000") == 1
    said = capsys.readouterr().err
    assert "cost-per-hour=1000: one: no price of ml.g5.xlarge, so it may cost too much" in said
    assert "`inferstack prices update --region REGION` writes inferstack-prices.json" in said


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("role-widend", "unknown policy 'role-widend'; did you mean `role-widened`?"),
        ("updated=1", "unknown policy 'updated=1'"),
        ("cost-per-hour", "cost-per-hour needs an amount of money, as in cost-per-hour=20"),
        ("cost-per-hour=-1", "needs an amount of money"),
        ("cost-per-hour=inf", "needs an amount of money"),
    ],
)
def test_a_policy_that_is_none_is_wrong_usage(
    policy: str, said: str, one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("--fail-on", policy)
    assert said in capsys.readouterr().err


def test_a_program_without_a_base_is_wrong_usage(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("--base-program", "inferstack")
    assert "--base-program needs --base" in capsys.readouterr().err


def test_an_empty_base_is_not_the_working_directory(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("--base", "")
    assert "--base is empty; leave it out to compare with nothing" in capsys.readouterr().err


# ---------------------------------------------------------------- formats


def test_text_fits_a_terminal_but_for_names_that_do_not() -> None:
    for case in CASES:
        long = [line for line in text(case.review()).splitlines() if len(line) > 80]
        # What cannot be broken: a URI, or a row of the table.
        assert all(len(max(line.split(), key=len)) > 30 or "  " in line.strip() for line in long), long


def test_a_table_that_is_too_wide_has_what_it_was_above_what_it_becomes(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, variant={"instance_type": "ml.g5.24xlarge"}, endpoint_name="a-name-of-more-letters-than-most")
    Path("base/one.yaml").write_text(one.read_text().replace("24xlarge", "12xlarge"))
    assert run("--base", "base") == 0
    rows = [re.split("  +", line) for line in capsys.readouterr().out.split("\n\n")[1].splitlines()[1:]]
    assert [row[-2:] for row in rows] == [["2 ml.g5.12xlarge →", "14.00 → -"], ["", "2 ml.g5.24xlarge"]]


def test_a_stage_that_differs_in_its_name_only_is_said_once(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one, endpoint_name="one-${stage}", stages={"test": {}, "prod": {}})
    assert run() == 0
    said = capsys.readouterr().out
    assert said.endswith(
        "(model_specs/one.yaml, stage prod; single-model, real-time)\n  as one-test, with `prod` for `test`\n"
    )
    assert said.count("  on  ") == 1
    change(
        one,
        endpoint_name="one-${stage}",
        stages={"test": {}, "prod": {"variant": {"initial_instance_count": 3}}},
    )
    assert run() == 0
    assert capsys.readouterr().out.count("  on  ") == 2


def test_json_is_the_review_and_can_be_read_back() -> None:
    for case in CASES:
        found = case.review()
        written = as_json(found)
        assert written.isascii()
        assert msgspec.json.decode(written, type=Review) == found


def many_endpoints(count: int, folder: Path) -> Review:
    for number in range(count):
        data = merged(yaml.safe_load(BASES["single"]), {"endpoint_name": f"endpoint-{number}"})
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(data))
    return review(folder)


@pytest.mark.parametrize("count", [1, 20, 60, 400])
def test_a_comment_is_never_too_long_and_says_what_was_cut(count: int, tmp_path: Path) -> None:
    made = markdown(many_endpoints(count, tmp_path))
    assert len(made.encode()) <= LONGEST < 65_536
    assert made.count("<details>") == made.count("</details>")
    assert made.count("```") % 2 == 0
    assert ("folded parts are left out" in made) == (count > 20)
    assert (re.search(r"^… and \d+ more$", made, re.MULTILINE) is not None) == (count > 60)


def test_a_comment_fits_whatever_is_long(tmp_path: Path) -> None:
    found = many_endpoints(400, tmp_path)
    finding = Finding(
        effect="advice", severity="warning", endpoints=(), message="a" * 500, place=Place("specs/one.yaml")
    )
    quota = Quota(
        name="ml.g5.xlarge for endpoint usage",
        account=None,
        region="us-east-1",
        needed=1,
        while_updating=2,
        endpoints=(found.endpoints[0].key,),
    )
    notes = tuple(f"main: specs/{it}.yaml has errors, such as IS101: not compared" for it in range(500))
    full = replace(found, notes=notes, findings=(finding,) * 500, quotas=(quota,) * 500)
    made = markdown(full)
    assert len(made.encode()) <= LONGEST
    assert made.count("… and ") == 4
    assert "folded parts are left out" in made


def test_a_picture_shows_endpoints_variants_and_components() -> None:
    [case] = [it for it in CASES if it.title == "component added, which reads other files"]
    picture = re.findall(r"```mermaid\n(.*?)```", markdown(case.review()), re.DOTALL)
    assert picture == [
        "flowchart LR\n"
        '  e0(["travel-chat"])\n'
        '  e0v0["AllTraffic: 1 to 4 x ml.g5.12xlarge #40;2 at the start#41;"]\n'
        "  e0 --> e0v0\n"
        '  e0v0 --> e0v0c0["llama2-europe: 0 to 4 copies #40;1 at the start#41;"]\n'
        '  e0v0 --> e0v0c1["llama2-america: 0 to 4 copies #40;1 at the start#41;"]\n'
        '  e0v0 --> e0v0c2["llama2-asia: 1 copy"]\n'
    ]


def test_what_a_comment_shows_has_the_tags_that_are_meant() -> None:
    page = Page(by_github(markdown(all_examples())))
    assert set(page.tags) <= OURS | FOLDED
    assert {"details", "summary", "table", "pre"} <= set(page.tags)


# ---------------------------------------------------------------- hostile specs


def test_hostile_names_are_hostile_enough() -> None:
    """What test_review_html.py tries. Most of these texts are refused by rules; what is left must still be told, so some get through."""
    rule = {"metric_name": "<b>@me", "namespace": "Own", "statistic": "Sum", "threshold": 1}
    change = {"alarms": {"rules": [rule]}}
    found = reviewed(change, "x")
    assert not found.failed
    assert "@me" in text(found)
    assert r"Sum of \<b\>`@me` of the endpoint" in markdown(found)


def test_the_examples_are_there() -> None:
    assert PRICES.is_file()
    assert len(list(EXAMPLES.glob("*.yaml"))) == len(all_examples().endpoints) - 1
