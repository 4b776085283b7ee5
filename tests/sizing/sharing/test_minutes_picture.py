"""The picture of a shared fleet's minutes: what the simulation has, and colors for the busiest models."""

import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

from inferstack.check.load import parse_spec
from inferstack.sizing.minutes_picture import fleets_over_minutes
from inferstack.sizing.pictures import COLORS
from inferstack.sizing.sharing.comparison import FleetComparison, SharingQuestion, comparisons
from inferstack.sizing.sharing.hosts import Simulation
from inferstack.sizing.traffic import read_traffic
from inferstack.source.document import read_document

CHAT = Path(__file__).parents[3] / "model_specs" / "travel-chat.yaml"


def shared(data: dict[str, Any], traffic: Path) -> FleetComparison:
    """The fleet of a spec with this traffic."""
    read = read_traffic(traffic, None)
    question = SharingQuestion(traffic=read, simulation=Simulation(read.period))
    [found] = comparisons([parse_spec(data).spec], question)
    return found


def each_minute(panel: Any, name: str, minutes: int) -> list[float]:
    """What a line shows at each minute: a value lasts until the next point."""
    points = {round(it["hour"] * 60): it["value"] for it in panel["data"]["values"] if it["of"] == name}
    shown, value = [], points[0]
    for minute in range(minutes):
        value = points.get(minute, value)
        shown.append(value)
    return shown


def test_it_shows_each_minute_of_the_simulation(tmp_path: Path) -> None:
    traffic = tmp_path / "halves.csv"
    traffic.write_text("time,llama2-europe,llama2-america\n00:00,20,0\n12:00,0,20\n")
    fleet = shared(read_document(CHAT).data, traffic)
    requests, capacity = fleets_over_minutes([fleet])["vconcat"]
    series = fleet.sharing.series
    assert each_minute(capacity, "all instances", 1440) == [*series.instances]
    for name, it in series.models.items():
        assert each_minute(capacity, name, 1440) == [*it.copies.held]
        assert each_minute(requests, name, 1440) == [*map(float, it.requests)]
    # A line does not need a point for each minute.
    assert len(capacity["data"]["values"]) < 100
    domain = capacity["encoding"]["color"]["scale"]
    assert dict(zip(domain["domain"], domain["range"], strict=True))["all instances"] == COLORS[-1]


def test_models_that_have_few_requests_are_drawn_together(tmp_path: Path) -> None:
    data = copy.deepcopy(read_document(CHAT).data)
    data["inference_components"] = {
        f"chat-{number}": copy.deepcopy(data["inference_components"]["llama2-europe"]) for number in range(9)
    }
    data["variant"]["managed_instance_scaling"]["max_instance_count"] = 9
    traffic = tmp_path / "traffic.csv"
    numbers = range(1, 10)
    traffic.write_text(
        f"time,{','.join(data['inference_components'])}\n00:00,{','.join(map(str, numbers))}\n"
    )
    fleet = shared(data, traffic)
    requests, capacity = fleets_over_minutes([fleet])["vconcat"]
    own = [f"chat-{number}" for number in (4, 5, 6, 7, 8)]
    assert requests["encoding"]["color"]["scale"]["domain"] == [*own, "other models", "all instances"]
    assert {*each_minute(requests, "other models", 60)} == {float(Decimal(1 + 2 + 3 + 4))}
    others = [it.copies.held[0] for name, it in fleet.sharing.series.models.items() if name not in own]
    assert each_minute(capacity, "other models", 1)[0] == sum(others)
