#!/usr/bin/env bash
# synthesize.sh STAGE... makes cdk.out/STAGE for each stage: what is reviewed, and then deployed as it is. It needs no
# credentials. The project's own tests come first.
set -euo pipefail
[ ! -d tests ] || python3 -m unittest discover tests
for stage in "$@"; do
  out=cdk.out/$stage
  rm -rf "$out"
  npx cdk synth --quiet -c stage="$stage" --output "$out"
  # Account, region, name and template of each stack, for fetch-deployed.sh, which has no Python.
  python3 -c '
import json, sys
for name, it in json.load(sys.stdin)["artifacts"].items():
    if it["type"] == "aws:cloudformation:stack":
        place, of = it["environment"].removeprefix("aws://").split("/"), it["properties"]
        print(*place, of.get("stackName", name), of["templateFile"])' <"$out/manifest.json" >"$out/stacks.txt"
done
