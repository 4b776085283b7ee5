#!/usr/bin/env bash
# review.sh BASE [STAGE...] prints, as Markdown, what merging into the commit BASE would deploy.
# The status is 1 if a spec has errors or AWS would refuse the update; the report is complete even then.
# With PAGES, the folder gets the same as a page for each stage; SOURCE_URL is the address of a line on the web.
set -euo pipefail
base=$1
shift
# A commit, whatever a pull request calls its folders: `git:` makes it one for inferstack, the hash for git.
commit=$(git rev-parse --verify --end-of-options "$base^{commit}") || {
  echo "review.sh: $base is no commit that git has here" >&2
  exit 1
}
specs=${SPECS:-model_specs}
region=${AWS_REGION:-${AWS_DEFAULT_REGION:-@{region}}}
work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT
git worktree add --quiet --detach "$work/base" "$commit"

[ $# -gt 0 ] || set -- '' # the specs as they stand

review() { # STAGE FORMAT [OPTION...]: prints the stage's review
  inferstack review "$specs" ${1:+--stage "$1"} --region "$region" --base "git:$base" --base-program "$program" \
    --format "${@:2}"
}

templates() { # PROGRAM STAGE FOLDER: writes the stage's templates to the folder; none if a spec has errors
  "$1" render "$specs" ${2:+--stage "$2"} --region "$region" --format yaml --out "$3" >&2
}

echo '<!-- inferstack -->' # the next run finds the comment by this
# Another version of inferstack may make other templates from the same specs, so BASE's are made by its own.
program=inferstack
if [ -f "$work/base/requirements.txt" ] && ! cmp -s requirements.txt "$work/base/requirements.txt"; then
  python3 -m venv "$work/venv"
  if (cd "$work/base" && "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile -r requirements.txt >&2); then
    program=$work/venv/bin/inferstack
  else
    printf 'The old requirements.txt cannot be installed: what another version of inferstack changes is not shown.\n\n'
  fi
fi
status=0
for stage in "$@"; do
  before=$work/before/$stage after=$work/after/$stage
  mkdir -p "$before" "$after"
  [ -z "$stage" ] || printf '## %s\n\n' "$stage"
  review "$stage" markdown || status=1
  if [ -n "${PAGES-}" ]; then
    mkdir -p "$PAGES"
    review "$stage" html ${SOURCE_URL:+--source-url "$SOURCE_URL"} >"$PAGES/review${stage:+-$stage}.html" || status=1
  fi
  if (cd "$work/base" && templates "$program" "$stage" "$before") && templates inferstack "$stage" "$after"; then
    # A resource has not changed if only its source in the spec has.
    changes=$(cd "$work" && git diff --no-index --no-color --ignore-matching-lines='inferstack:source' \
      "before/$stage" "after/$stage" || true)
    changes=${changes:0:15000} # the length of a comment is limited
    fence='``````'             # a description may have one, too: longer than any that is in the changes
    while [[ $changes == *"$fence"* ]]; do fence+='`'; done
    [ -z "$changes" ] ||
      printf '\n<details><summary>Templates</summary>\n\n%sdiff\n%s\n%s\n\n</details>\n' "$fence" "$changes" "$fence"
  fi
  echo
done
exit "$status"
