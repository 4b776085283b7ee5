"""Every traffic file that can be read, and what is said about those that cannot."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from inferstack.problems import FilePlace, SpecError
from inferstack.sizing.traffic import read_traffic, repeated, together


def written(folder, text, name="traffic.csv"):
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_line_applies_until_the_next_and_the_last_as_long(tmp_path):
    found = read_traffic(written(tmp_path, "time,llama,mistral\n00:00,5,0\n12:00,0,2.5\n"))
    assert found.requests["llama"] == (Decimal(5),) * 720 + (Decimal(0),) * 720
    assert found.requests["mistral"] == (Decimal(0),) * 720 + (Decimal("2.5"),) * 720
    assert (found.minutes, found.peak, found.is_dated) == (1440, 5, False)
    assert (found.shown(0), found.shown(725)) == ("00:00", "12:05")
    assert found.named_at["mistral"].column == 12


def test_a_single_line_is_a_day(tmp_path):
    assert read_traffic(written(tmp_path, "minute,a\n0,5\n")).minutes == 1440


def test_a_line_for_each_model_and_time_in_any_order(tmp_path):
    text = "time,component,requests\n00:01,a,2\n00:00,b,3\n00:00,a,1\n00:01,b,4\n"
    found = read_traffic(written(tmp_path, text))
    assert found.requests == {"a": (1, 2), "b": (3, 4)}
    assert found.totals == (4, 6)


def test_byte_order_marks_and_other_line_ends_are_no_difference(tmp_path):
    text = b"\xef\xbb\xbftime,a\r\n2026-11-23T08:00+01:00,1\r\n2026-11-23T08:01+01:00,2\r\n\r\n"
    found = read_traffic(written(tmp_path, text))
    assert (found.requests, found.start) == ({"a": (1, 2)}, datetime(2026, 11, 23, 7, tzinfo=UTC))
    assert found.shown(1) == "2026-11-23 07:01"


def test_minutes_of_a_week_are_shown_with_their_day(tmp_path):
    rows = "".join(f"{hour * 60},1\n" for hour in range(168))
    found = read_traffic(written(tmp_path, f"minute,a\n{rows}"))
    assert (found.minutes, found.shown(0), found.shown(10079)) == (10080, "Mon 00:00", "Sun 23:59")


def test_metric_data_are_sums_of_periods_and_no_data_is_no_request(tmp_path):
    # Periods of 5 minutes: 50 requests are 10 a minute. 00:05 is missing for `a`, and all but 00:05 for `b`.
    results = [
        {"Id": "m1", "Label": "a", "Timestamps": ["2026-11-23T00:10:00Z", "2026-11-23T00:00:00Z"]},
        {"Id": "b", "Timestamps": ["2026-11-23T00:05:00Z"], "Values": [12.0], "StatusCode": "Complete"},
    ]
    results[0]["Values"] = [50.0, 5.0]
    found = read_traffic(written(tmp_path, json.dumps({"MetricDataResults": results}), "export.json"))
    assert found.requests["a"] == (1,) * 5 + (0,) * 5 + (10,) * 5
    assert found.requests["b"] == (0,) * 5 + (Decimal("2.4"),) * 5 + (0,) * 5


def test_metric_statistics_are_named_after_their_file(tmp_path):
    points = [{"Timestamp": f"2026-11-23T00:0{at}:00+00:00", "Sum": at, "Unit": "None"} for at in (1, 0)]
    text = json.dumps({"Label": "Invocations", "Datapoints": points})
    llama = read_traffic(written(tmp_path, text, "llama.json"))
    mistral = read_traffic(written(tmp_path, text, "mistral.json"))
    assert llama.requests == {"llama": (0, 1)}
    assert together([llama, mistral]).requests == {"llama": (0, 1), "mistral": (0, 1)}


def test_files_for_different_times_or_the_same_name_do_not_go_together(tmp_path):
    day = read_traffic(written(tmp_path, "time,a\n00:00,1\n", "day.csv"))
    hour = read_traffic(written(tmp_path, "time,b,a\n00:00,1,1\n00:30,1,1\n", "hour.csv"))
    with pytest.raises(SpecError) as caught:
        together([day, hour])
    assert "this file covers 60 minutes from 00:00, but the first one 1440 minutes" in str(caught.value)
    assert "hour.csv:1:1: IS072: `a` is in" in str(caught.value)
    minute = read_traffic(written(tmp_path, json.dumps(statistics(1)), "b.json"))
    with pytest.raises(
        SpecError, match="this file covers 1 minute from 2026-11-23 08:00, but the first one 1440"
    ):
        together([day, minute])
    with pytest.raises(SpecError) as caught:
        read_traffic(written(tmp_path, json.dumps(statistics(-1)), "b" * 100 + ".json"))
    assert f"IS072: `{'b' * 60}…` is `-1`" in str(caught.value)


def statistics(requests):
    """A minute, as CloudWatch has it."""
    return {"Label": "Invocations", "Datapoints": [{"Timestamp": "2026-11-23T08:00:00Z", "Sum": requests}]}


def test_a_day_can_be_repeated(tmp_path):
    day = read_traffic(written(tmp_path, "time,a\n00:00,1\n12:00,2\n", "day.csv"))
    week = repeated(day, 7)
    assert week.requests == {"a": day.requests["a"] * 7}
    assert week.shown(7 * 1440 - 1) == "Sun 23:59"
    hours = read_traffic(written(tmp_path, "time,a\n00:00,1\n06:00,2\n", "hours.csv"))
    assert repeated(hours, 1) == hours
    with pytest.raises(
        SpecError, match="covers 720 minutes from 00:00, and only a whole day can be repeated"
    ):
        repeated(hours, 2)


def export(**result):
    whole = {"Id": "a", "Timestamps": ["2026-11-23T00:00:00Z"], "Values": [1.0], **result}
    return json.dumps({"MetricDataResults": [whole]})


WRONG = {
    "": ("1:1: IS072: the file is empty; name a CSV file, or an export of CloudWatch's",),
    ",a\n": ("1:1: IS072: the first column is empty, not `time`; the first line must be like `time,MODEL",),
    "time\n0\n": ("the file names no model",),
    "time;a\n0;1\n": ("semicolons separate the columns",),
    "time,a\n": ("the file has no line with requests",),
    "time,a,a\n0,1,1\n": ("the column `a` occurs twice",),
    "time,a,\n0,1,1\n": ("a column has no name",),
    "time,a\n0,-1\n1,nan\n2,1e999\n3,inf\n4,\n5,many\n": (
        "2:1: IS072: `a` is `-1`; write requests per minute: a number from 0 to 1,000,000,000",
        "3:1: IS072: `a` is `nan`",
        "4:1: IS072: `a` is `1e999`",
        "5:1: IS072: `a` is `inf`",
        "6:1: IS072: `a` is empty",
        "7:1: IS072: `a` is `many`",
    ),
    "time,a\n0\n": ("2:1: IS072: the line has 1 value, but there are 2 columns",),
    "time,a\n25:00,1\n": ("2:1: IS072: the time is `25:00`; write `HH:MM`",),
    "time,a\n00:00,1\n5,1\n": ("3:1: IS072: `5` is in another form than the times above",),
    "time,a\n2026-11-23T00:00:30Z,1\n": ("is not at a full minute",),
    "time,a,b\n00:00,1,1\n00:01,1,1\n00:00,1,1\n": ("4:1: IS072: 00:00 occurs twice, first on line 2",),
    "time,model,requests\n00:00,a,1\n00:00,a,1\n": ("`a` has 00:00 twice, first on line 2",),
    "time,model,requests\n00:00,,1\n": ("the name is empty",),
    "time,a\n00:00,1\n00:01,1\n00:05,1\n": (
        "4:1: IS072: nothing between 00:01 and 00:05, though other times are 1 minute apart",
    ),
    "time,name,requests\n0,a,1\n1,a,1\n2,a,1\n0,b,1\n": (
        "5:1: IS072: `b` has nothing at minute 1 and 1 more",
    ),
    "minute,a\n0,1\n50000,1\n": ("3:1: IS072: the file covers more than 31 days",),
    'time,a\n0,"1\n': ("line 2 is not CSV: unexpected end of data",),
    "{": ("the file is not JSON",),
    "[]": ("this JSON is not an export from CloudWatch; it must have one of the keys `MetricDataResults`",),
    '{"MetricDataResults": 1}': ("`MetricDataResults` does not have the form of its API",),
    '{"MetricDataResults": []}': ("the export has no data",),
    '{"Datapoints": [{"Timestamp": "2026-11-23T00:00:00Z", "Average": 1}]}': ("ask for `--statistics Sum`",),
    export(StatusCode="PartialData"): ("`a` is only a part of its data",),
    export(Values=[float("nan")]): ("`a` is `NaN`",),
    export(Values=[-1]): ("`a` is `-1`",),
    export(Values=[]): ("does not have the form of its API",),
    export()[:-1] + ', "NextToken": "x"}': ("the export is only the first page",),
    b"\xff\xfe": ("the file is UTF-16",),
}


@pytest.mark.parametrize("text", WRONG, ids=repr)
def test_everything_that_is_wrong_with_a_file_is_said(text, tmp_path):
    with pytest.raises(SpecError) as caught:
        read_traffic(written(tmp_path, text))
    for said in WRONG[text]:
        assert said in str(caught.value)


def test_periods_of_an_export_must_fit_together(tmp_path):
    times = ["2026-11-23T00:00:00Z", "2026-11-23T00:05:00Z", "2026-11-23T00:12:00Z"]
    with pytest.raises(SpecError, match="00:12 is not a multiple of 5 minutes after"):
        read_traffic(written(tmp_path, export(Timestamps=times, Values=[1, 1, 1])))


def test_a_file_that_is_missing_or_too_large_is_not_read(tmp_path):
    with pytest.raises(SpecError, match="the file cannot be read: No such file"):
        read_traffic(tmp_path / "none.csv")
    with pytest.raises(SpecError, match="larger than 16 MiB"):
        read_traffic(written(tmp_path, b"0" * (16 * 1024 * 1024 + 1)))


def test_a_file_in_which_every_line_is_wrong_is_given_up(tmp_path):
    with pytest.raises(SpecError, match="more problems"):
        read_traffic(written(tmp_path, "time,a\n" + "0,x\n" * 100_000))


@given(st.text(max_size=60) | st.text("time,ab\n0123:.-", max_size=60))
def test_any_text_is_traffic_or_problems(tmp_path_factory, text):
    with suppress(SpecError):
        found = read_traffic(written(tmp_path_factory.getbasetemp(), "time,a\n" + text))
        assert all(len(it) == found.minutes for it in found.requests.values())


def test_a_place_is_that_of_the_name(tmp_path):
    file = written(tmp_path, "time,model,requests\n0,a,1\n0,b,1\n")
    assert read_traffic(file).named_at["b"] == FilePlace(file.as_posix(), 3)
