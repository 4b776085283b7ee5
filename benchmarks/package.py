"""`inferstack package` against `tar c | sha256sum` on random weights: `python -m benchmarks.package`.

Random bytes cannot be compressed, as weights hardly can; they are made once and read from the page cache by
all. Ours reads, makes an archive, hashes it and writes it, and has to look into config.pbtxt besides.
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.compare import HEADER, interleaved, least_rows, table
from benchmarks.process import Program
from benchmarks.surroundings import inferstack_program

_CHUNK = 16 << 20
_PIPE = "tar c, sha256sum"
_SPEC = """\
kind: single-model
endpoint_name: weights
model:
  image: 763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:26.05-py3
  model_data_url: s3://acme-models/weights/model.tar.gz
variant:
  instance_type: ml.g5.2xlarge
  initial_instance_count: 2
  inference_ami_version: al2023-ami-sagemaker-inference-gpu-4-1
triton:
  models:
    net:
      platform: onnxruntime_onnx
      max_batch_size: 8
      input: [{name: x, data_type: TYPE_FP32, dims: [4]}]
      output: [{name: y, data_type: TYPE_FP32, dims: [4]}]
      dynamic_batching: {}
      instance_group: [{kind: KIND_GPU, count: 2}]
      files: {1/model.onnx: weights/model.onnx}
"""


def compared(folder: Path, megabytes: int, rounds: int, arguments: list[str]) -> str:
    """The table for random weights of one size; ``arguments`` come after ``inferstack package``."""
    _write_weights(folder / "weights" / "model.onnx", megabytes)
    (folder / "spec.yaml").write_text(_SPEC, encoding="utf-8")
    programs = {
        _PIPE: Program(["sh", "-c", "tar c weights | sha256sum"], folder),
        "the same, writing the archive, too": Program(
            ["sh", "-c", "tar c weights | tee archive.tar | sha256sum"], folder
        ),
        "inferstack package": inferstack_program(folder, "package", "spec.yaml", *arguments),
    }
    samples = interleaved(programs, rounds)
    # On a virtual machine, memory for a new file costs nothing or up to half as much again.
    title = f"{megabytes} MB of random weights, the least of {rounds} rounds"
    return table(title, HEADER, least_rows(samples, _PIPE))


def _write_weights(file: Path, megabytes: int) -> None:
    file.parent.mkdir()
    with file.open("wb") as weights:
        for written in range(0, megabytes << 20, _CHUNK):
            weights.write(os.urandom(min(_CHUNK, (megabytes << 20) - written)))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--folder", type=Path, help="for three times the size of the weights; default: temporary"
    )
    options, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        print(compared(Path(name), options.megabytes, options.rounds, arguments))


if __name__ == "__main__":
    _main()
