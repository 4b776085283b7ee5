"""What a real AIPerf measures of a server on this machine, as `size` reads it: `make test-aiperf`.

No speed is compared with a number: what is read must be what AIPerf recorded of each request.
"""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate, count
from pathlib import Path
from statistics import quantiles
from time import monotonic, sleep
from typing import Any

import pytest

from inferstack.cli import main
from inferstack.problems import SpecError
from inferstack.sizing.measurements import read_measurements

ROOT = Path(__file__).parents[2]
AIPERF = ROOT / "build/aiperf/bin/aiperf"
AGENTS = ROOT / "docs/examples/sizing/agents.yaml"
SUMMARY = "profile_export_aiperf.json"
WORDS = 16
USERS = (2, 4)
REQUESTS = 12
TESTED = ("--instance-type", "ml.g6.16xlarge")

# One word is one token. A tokenizer of a hub would be a download.
TOKENIZER = {
    "tokenizer.json": {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "word": 1}, "unk_token": "<unk>"},
    },
    "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"},
}


class Chat(BaseHTTPRequestHandler):
    """Streams a piece every ten milliseconds, the first one after fifty."""

    protocol_version = "HTTP/1.1"
    server: "ChatServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (self.path, body["stream"]) == ("/v1/chat/completions", True)
        if not self.server.accepts(next(self.server.numbers)):
            self.send_error(500)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(self.server.pieces):
            sleep(0.01 if number else 0.05)
            words = "word " * (WORDS // self.server.pieces)
            choice = {"index": 0, "delta": {"role": "assistant", "content": words}}
            self._send(json.dumps({"object": "chat.completion.chunk", "choices": [choice]}))
        self._send("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))

    def log_request(self, code: object = "-", size: object = "-") -> None:
        self.server.statuses.append(code)

    def log_error(self, *_: object) -> None:
        pass


class ChatServer(ThreadingHTTPServer):
    """An OpenAI-compatible server that notes the status of each answer."""

    def __init__(self, accepts: Callable[[int], bool], pieces: int) -> None:
        super().__init__(("127.0.0.1", 0), Chat)
        self.accepts, self.numbers, self.pieces = accepts, count(), pieces
        self.statuses: list[object] = []

    def handle_error(self, *_: object) -> None:
        """AIPerf ends connections when it is cancelled."""


@contextmanager
def serving(accepts: Callable[[int], bool] = lambda _: True, pieces: int = WORDS) -> Iterator[ChatServer]:
    with ChatServer(accepts, pieces) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextmanager
def aiperf(folder: Path, server: ChatServer, *, users: Sequence[int], requests: int) -> Iterator[Any]:
    """A run with its results in the folder; none of its processes outlives it."""
    if not AIPERF.exists():
        pytest.fail("there is no AIPerf; `make test-aiperf` installs it and runs this")
    for name, content in TOKENIZER.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    load = ("--concurrency", ",".join(map(str, users)), "--request-count", str(requests))
    unused = ("--no-server-metrics", "--no-gpu-telemetry", "--ui", "none")
    chat = ("--endpoint-type", "chat", "--streaming", "--synthetic-input-tokens-mean", "8")
    folders = ("--tokenizer", str(folder), "--output-artifact-dir", str(folder))
    url = f"http://127.0.0.1:{server.server_port}"
    with (folder / "log").open("w") as log:
        run = subprocess.Popen(
            [AIPERF, "profile", "--model", folder.name, "--url", url, *chat, *load, *unused, *folders],
            # Nothing is asked of a hub, or the run fails.
            env={**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield run
        run.wait(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of all requests, with their summaries of several runs."""
    folder = tmp_path_factory.mktemp("mock", numbered=False)
    with serving() as server, aiperf(folder, server, users=USERS, requests=REQUESTS) as run:
        pass
    assert run.returncode == 0, (folder / "log").read_text("utf-8")
    assert server.statuses == [200] * REQUESTS * len(USERS)
    return folder


@pytest.mark.parametrize("users", USERS)
def test_all_that_is_read_is_what_was_recorded_of_each_request(sweep: Path, users: int) -> None:
    folder = sweep / f"concurrency_{users}"
    (found,) = read_measurements(folder / SUMMARY, instance_type="ml.g6.16xlarge")
    lines = (folder / "profile_export.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert (found.configuration, len(records)) == ("mock", REQUESTS)
    for field, metric in (
        ("latencies", "request_latency"),
        ("time_to_first_token", "time_to_first_token"),
        ("inter_token_latency", "inter_token_latency"),
    ):
        measured = {float(at): float(value) for at, value in getattr(found, field).items()}
        assert measured.keys() >= {50, 90, 95, 99}
        assert {it["metrics"][metric]["unit"] for it in records} == {"ms"}
        at = quantiles([it["metrics"][metric]["value"] for it in records], n=100, method="inclusive")
        assert measured == pytest.approx({it: at[int(it) - 1] for it in measured})
    about = [it["metadata"] for it in records]
    changes = sorted(
        [(it["request_start_ns"], 1) for it in about] + [(it["request_end_ns"], -1) for it in about]
    )
    assert found.users == max(accumulate(it for _, it in changes)) == users
    summary = json.loads((folder / SUMMARY).read_text("utf-8"))
    began, ended = (datetime.fromisoformat(summary[it]) for it in ("start_time", "end_time"))
    rate = REQUESTS / (ended - began).total_seconds()
    assert float(found.requests_per_minute) == pytest.approx(rate * 60, rel=1e-3)
    assert float(found.tokens_per_second or 0) == pytest.approx(rate * WORDS, rel=1e-3)
    assert [*found.faults] == []


def test_its_other_exports_lead_to_the_summary(sweep: Path) -> None:
    others = {it for it in sweep.rglob("profile_export_*.*") if it.suffix in (".csv", ".json")}
    others -= {sweep / f"concurrency_{users}" / SUMMARY for users in USERS}
    assert {it.name.removeprefix("profile_export_aiperf") for it in others} == {
        *(".csv", "_aggregate.csv", "_aggregate.json", "_sweep.csv", "_sweep.json")
    }
    for file in others:
        with pytest.raises(SpecError, match=r"name `profile_export_aiperf\.json` of each run") as caught:
            read_measurements(file, instance_type="ml.g6.16xlarge")
        assert len(caught.value.problems) == 1


def test_sound_runs_are_ranked_and_bad_ones_shown_apart(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing, cancelled = tmp_path / "failing", tmp_path / "cancelled"
    failing.mkdir()
    cancelled.mkdir()
    # As behind a proxy that sends each answer at once: no time between tokens can be read.
    with serving(lambda number: number % 3 == 0, pieces=1) as server:
        with aiperf(failing, server, users=[3], requests=REQUESTS):
            pass
        failures = f"{server.statuses.count(500)} of {len(server.statuses)} requests failed"
    assert failures == "8 of 12 requests failed"
    with serving() as server, aiperf(cancelled, server, users=[2], requests=1000) as run:
        last = monotonic() + 60
        while len(server.statuses) < REQUESTS and run.poll() is None and monotonic() < last:
            sleep(0.1)
        run.send_signal(signal.SIGINT)
    files = [*(sweep / f"concurrency_{users}" / SUMMARY for users in USERS)]
    files += [failing / SUMMARY, cancelled / SUMMARY]
    given = [part for file in files for part in ("--measurements", str(file))]
    assert main(["size", str(AGENTS), *TESTED, *given]) == 0
    out, err = capsys.readouterr()
    # Of 100 requests at once, each instance gets 0.7 x the users that it was measured with.
    assert [line.split()[:6] for line in out.splitlines()[1:3]] == [
        ["36", "ml.g6.16xlarge", "mock,", "4", "users", "2"],
        ["72", "ml.g6.16xlarge", "mock,", "2", "users", "1"],
    ]
    # This server is never busy, so more users only make it do more.
    assert "the rate still rose with the last step, from 2 to 4 users: measure with more" in out
    _, apart = out.split("not for this objective:\n")
    assert apart.splitlines() == [
        f"  48 x ml.g6.16xlarge failing: {failures}",
        "  72 x ml.g6.16xlarge cancelled: the run was cancelled",
        "    the run is incomplete: Run cancelled before all records were processed.",
    ]
    assert err.startswith("without prices, the fewest instances come first; ")
    assert err.count("\n") == 1

    strict = tmp_path / "strict.yaml"
    strict.write_text(AGENTS.read_text("utf-8").replace("milliseconds: 400", "milliseconds: 40"), "utf-8")
    assert main(["size", str(strict), *TESTED, *given[:4]]) == 1
    assert capsys.readouterr().out.count("until the first token is over the limit of 40 ms at P90") == 2
