"""A real Triton understands the bodies that we make, and we understand its answers, with the numbers unchanged."""

from pathlib import Path

import numpy as np
import pytest
from support.rehearsal import SERVER_PYTHON, model, spec

from inferstack.check.load import load_spec
from inferstack.cli.rehearse import rehearsals_of
from inferstack.triton.invocation import read_answer, request_body
from inferstack.triton.protocol import BINARY, JSON
from inferstack.triton.rehearsal.confinement import Confinement
from inferstack.triton.rehearsal.container import Host, launch_single
from inferstack.triton.rehearsal.layout import pack_and_lay_out
from inferstack.triton.rehearsal.server import find_server

# Different values for each type, so that what comes back can be told from anything else that was sent.
TYPES = {
    "BOOL": np.array([[True, False], [False, True]]),
    **{f"UINT{bits}": np.array([[0, 2**bits - 1], [1, 2]], f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{
        f"INT{bits}": np.array([[-(2 ** (bits - 1)), 7], [1, 2]], f"i{bits // 8}") for bits in (8, 16, 32, 64)
    },
    **{f"FP{bits}": np.array([[0.5, -2], [3, 4]], f"f{bits // 8}") for bits in (16, 32, 64)},
    "STRING": np.array([["grün", ""], ["a", "bb"]], dtype=object),
}


def _spec(types: list[str]) -> str:
    tensors = ", ".join(f"{{name: {kind}, data_type: TYPE_{kind}, dims: [2]}}" for kind in types)
    outputs = tensors.replace("name: ", "name: OUT_")
    return spec(
        "single-model",
        f"models: {{echo: {{backend: python, max_batch_size: 4, input: [{tensors}], output: [{outputs}], "
        "files: {1/model.py: echo.py}}}",
    )


@pytest.mark.parametrize("binary", [True, False], ids=["binary", "json"])
def test_every_type_goes_to_the_server_and_comes_back(tmp_path: Path, binary: bool) -> None:
    types = [kind for kind in TYPES if binary or kind != "FP16"]
    (tmp_path / "echo.py").write_text(model("return {f'OUT_{name}': given[name] for name in given}"))
    file = tmp_path / "spec.yaml"
    file.write_text(_spec(types))
    [rehearsal] = rehearsals_of(load_spec(file), file, python=SERVER_PYTHON, seconds=60.0)
    [repository] = rehearsal.repositories
    inputs = {kind: TYPES[kind] for kind in types}
    body = request_body(repository.models[0].config, inputs, binary=binary)
    server = find_server(SERVER_PYTHON)
    with Confinement(server.needs) as confinement:
        host = Host(confinement, server, 60.0)
        (confinement.folder / "packed").mkdir()
        targets = {host.models / "model": repository}
        [files] = pack_and_lay_out(targets, confinement.folder / "packed", [tmp_path], rehearsal.locate, {})
        host.start(launch_single(rehearsal.environment, files.folders), files.stand_ins)
        headers = {"Content-Type": body.content_type}
        reply = host.sagemaker.ask("POST", "/invocations", body.content, headers)
    assert reply.status == 200, reply.text
    content_type = JSON if reply.header_length is None else f"{BINARY}{reply.header_length}"
    assert (content_type == JSON) is not binary
    found = read_answer(reply.body, content_type, repository.models[0].config)
    for kind, sent in inputs.items():
        came = found[f"OUT_{kind}"]
        texts = kind == "STRING"
        assert came.tolist() == ([[it.encode() for it in row] for row in sent] if texts else sent.tolist())
