#!/usr/bin/env bash
# review-deployed.sh STAGE FOLDER prints, as Markdown, what deploying cdk.out/STAGE changes, compared with the deployed templates
# in FOLDER/STAGE, where fetch-deployed.sh has put them.
# The status is 1 if AWS would refuse the update; the report is complete even then.
# With PAGES, the folder gets the same as a page; SOURCE_URL is the address of a line on the web.
set -euo pipefail
stage=$1
deployed=$2/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

base=(--base "$deployed")
[ -n "$(ls -A "$deployed")" ] || base=()
review() { # FORMAT [OPTION...]
  inferstack review --stage "$stage" --region "${AWS_REGION:-${AWS_DEFAULT_REGION:-us-east-1}}" "${base[@]}" --format "$@"
}

printf '## %s\n\n' "$stage"
[ -n "${base[*]}" ] || printf 'Nothing of this stage is deployed yet.\n\n'
review markdown || status=1
if [ -n "${PAGES-}" ]; then
  mkdir -p "$PAGES"
  review html ${SOURCE_URL:+--source-url "$SOURCE_URL"} >"$PAGES/review-$stage.html" || status=1
fi

# The specs say what is meant; this is what will be sent to CloudFormation, whatever the app has made of them.
while read -r _ _ _ template; do
  for side in "$deployed" "cdk.out/$stage"; do
    mkdir -p "$work/$side"
    [ ! -f "$side/$template" ] || python3 -c '
import json, sys
read = json.load(sys.stdin)
body = read.get("TemplateBody", read)
print(body if isinstance(body, str) else json.dumps(body, indent=1, sort_keys=True))' <"$side/$template" >"$work/$side/$template"
  done
done <"cdk.out/$stage/stacks.txt"
changes=$(cd "$work" && git diff --no-index --no-color --ignore-matching-lines='inferstack:source' \
  "$deployed" "cdk.out/$stage" || true)
changes=${changes:0:15000}
fence='``````' # a description may have one, too: longer than any that is in the changes
while [[ $changes == *"$fence"* ]]; do fence+='`'; done
[ -z "$changes" ] ||
  printf '\n<details><summary>Templates</summary>\n\n%sdiff\n%s\n%s\n\n</details>\n' "$fence" "$changes" "$fence"
exit "$status"
