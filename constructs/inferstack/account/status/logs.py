"""What containers have logged since a deployment began, one log for each stream.

Streams of earlier instances are left out: an update must not be blamed for what its predecessor logs.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from inferstack.account.connection import error_code
from inferstack.account.existing import pages
from inferstack.endpoint.of_answers import Answer

_MOST_STREAMS = 100
"""That one request may name."""
_MOST_LOOKED_AT = 2_000
_MOST_EVENTS = 20_000
"""Why a container ends is at the beginning."""
_MILLISECONDS = 1000


class Log(msgspec.Struct, frozen=True):
    """A log group, as far as it was read."""

    exists: bool
    streams: Mapping[str, Sequence[Answer]] = {}
    """Their events, in the order of time."""
    is_cut: bool = False
    """Whether there is more."""

    def last(self, count: int) -> list[str]:
        """The last lines of all streams."""
        every = [
            (it.get("timestamp", 0), name, it.get("message", ""))
            for name, one in self.streams.items()
            for it in one
        ]
        lines = [
            f"{name}: {line}"
            for _, name, message in sorted(every, key=lambda it: it[0])
            for line in message.splitlines()
        ]
        return lines[-count:]


def log_of(client: Any, group: str, since: datetime | None) -> Log:
    """The events of all streams that were made since then."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    start = 0 if since is None else int(since.timestamp() * _MILLISECONDS)
    try:
        names = [*_streams(client, group, start)]
        if not names:
            return Log(exists=True)
        request = {"logGroupName": group, "logStreamNames": names, "startTime": start}
        events = [*islice(pages(client, "filter_log_events", "events", **request), _MOST_EVENTS + 1)]
    except ClientError as error:
        if error_code(error) != "ResourceNotFoundException":
            raise
        return Log(exists=False)
    by_stream: dict[str, list[Answer]] = {name: [] for name in names}
    for it in events[:_MOST_EVENTS]:
        by_stream.setdefault(it["logStreamName"], []).append(it)
    return Log(exists=True, streams=by_stream, is_cut=len(events) > _MOST_EVENTS)


def _streams(client: Any, group: str, start: int) -> Iterator[str]:
    """Names of streams that are not older, those that were written last first."""
    request = {"logGroupName": group, "orderBy": "LastEventTime", "descending": True}
    found = islice(pages(client, "describe_log_streams", "logStreams", **request), _MOST_LOOKED_AT)
    return islice((it["logStreamName"] for it in found if it["creationTime"] >= start), _MOST_STREAMS)
