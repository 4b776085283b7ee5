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
    text = json.dumps({"MetricDataResults": results, "Period": 300})
    found = read_traffic(written(tmp_path, text, "export.json"))
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
    minute = read_traffic(written(tmp_path, json.dumps(statistics(1)), "b.json"), 60)
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
    'time,a\n0,"1\n': ("2:1: IS072: the line is not CSV: unexpected end of data",),
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
        read_traffic(written(tmp_path, export(Timestamps=times, Values=[1, 1, 1])), 300)


TIMES = ["2026-11-23T00:00:00Z", "2026-11-23T01:00:00Z", "2026-11-23T03:00:00Z"]
QUERY = {"Id": "a", "MetricStat": {"Metric": {}, "Period": 60, "Stat": "Sum"}}


@pytest.mark.parametrize(
    "request_",
    [{"Period": 60}, {"MetricDataQueries": [QUERY]}, {"MetricDataQueries": [{"Id": "a", "Period": 60}]}],
    ids=str,
)
def test_the_period_of_the_request_decides_and_not_the_distance_of_points(tmp_path, request_):
    # CloudWatch leaves out the minutes without requests.
    data = {**json.loads(export(Timestamps=TIMES, Values=[30_000, 30_000, 30_000])), **request_}
    found = read_traffic(written(tmp_path, json.dumps(data)))
    assert (found.peak, found.minutes, sum(found.totals), found.step) == (30_000, 181, 90_000, 1)
    answer = written(tmp_path, export(Timestamps=TIMES, Values=[30_000, 30_000, 30_000]))
    assert read_traffic(answer, 60).requests == found.requests
    hourly = read_traffic(answer, 3600)
    assert (hourly.peak, hourly.minutes) == (500, 240)
    assert (
        hourly.hidden == "each number of the traffic is for 60 minutes: a busier one among them is not seen"
    )
    assert found.hidden is None


@pytest.mark.parametrize(
    ("fields", "period", "said"),
    [
        (
            {},
            None,
            "the export does not say its period; its points are 60 minutes or more apart; write the `Period`",
        ),
        (
            {"Period": 300},
            60,
            "there are several periods: 60 seconds and 300 seconds; ask for all metrics with",
        ),
        ({"Period": 90}, None, "a period of 90 seconds is not in whole minutes; ask for 60 seconds or more"),
        ({"Period": "x"}, None, "does not have the form of its API"),
        ({"Period": 60, "StartTime": "x", "EndTime": "y"}, None, "does not have the form of its API"),
        (
            {"Period": 60, "StartTime": "2026-11-22T00:00:00Z", "EndTime": "2026-11-23T02:00:00Z"},
            None,
            "there are points from 2026-11-23 00:00 to 2026-11-23 03:00, outside of its times",
        ),
        (
            {"Period": 60, "StartTime": "2026-01-01T00:00:00Z", "EndTime": "2026-11-23T12:00:00Z"},
            None,
            "the file covers more than 31 days, from 2026-01-01 00:00 to 2026-11-23 11:59",
        ),
    ],
)
def test_a_time_that_is_not_known_is_asked_for(tmp_path, fields, period, said):
    data = {**json.loads(export(Timestamps=TIMES, Values=[1, 1, 1])), **fields}
    with pytest.raises(SpecError) as caught:
        read_traffic(written(tmp_path, json.dumps(data)), period)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("start", "end", "first", "minutes"),
    [
        ("2026-11-23T00:00:00Z", "2026-11-24T00:00:00Z", "2026-11-23 00:00", 1440),
        # CloudWatch rounds the start down; the end is the first time that is not asked for.
        ("2026-11-22T23:30:00Z", "2026-11-23T03:59:59+00:00", "2026-11-23 00:00", 240),
        ("2026-11-23T00:10:00Z", "2026-11-23T03:00:01Z", "2026-11-23 00:00", 240),
        ("2026-11-22T22:00:00", "2026-11-23T06:00:00+01:00", "2026-11-22 22:00", 420),
    ],
)
def test_the_time_that_was_asked_for_has_no_requests_where_there_is_no_point(
    tmp_path, start, end, first, minutes
):
    fields = {"Period": 3600, "StartTime": start, "EndTime": end}
    data = {**json.loads(export(Timestamps=TIMES, Values=[60, 60, 60])), **fields}
    found = read_traffic(written(tmp_path, json.dumps(data)))
    assert (found.shown(0), found.minutes, sum(found.totals)) == (first, minutes, 180)


def half_a_day(name, first, folder, hours=12):
    """The answer for one model of the documents' own case: requests in one half of the day only."""
    times = (f"2026-11-23T{first + minute // 60:02d}:{minute % 60:02d}:00Z" for minute in range(hours * 60))
    points = [{"Timestamp": it, "Sum": 20.0, "Unit": "None"} for it in times]
    text = json.dumps({"Label": "Invocations", "Datapoints": points})
    return read_traffic(written(folder, text, f"{name}.json"))


def test_metric_statistics_of_models_with_requests_at_different_times_go_together(tmp_path):
    found = together([half_a_day("europe", 0, tmp_path), half_a_day("america", 12, tmp_path)])
    assert found.requests == {"europe": (20,) * 720 + (0,) * 720, "america": (0,) * 720 + (20,) * 720}
    assert (found.shown(0), found.is_dated) == ("2026-11-23 00:00", True)
    rows = "".join(f"2026-11-{day}T00:00Z,1\n" for day in (23, 24))
    day = read_traffic(written(tmp_path, f"time,asia\n{rows}", "days.csv"))
    longer = together([half_a_day("europe", 1, tmp_path), day])
    assert [len(it) for it in longer.requests.values()] == [2880, 2880]
    late = read_traffic(
        written(tmp_path, json.dumps(statistics(1)).replace("11-23", "12-25"), "late.json"), 60
    )
    with pytest.raises(SpecError, match="the files cover more than 31 days together"):
        together([half_a_day("europe", 1, tmp_path), late])


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
