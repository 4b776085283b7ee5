#!/usr/bin/env bash
# fetch-deployed.sh STAGE FOLDER puts the deployed template of each stack of cdk.out/STAGE into FOLDER/STAGE. It needs the AWS
# CLI and a role with review-policy.json, and neither Python nor packages.
set -euo pipefail
folder=$2/$1
rm -rf "$folder"
mkdir -p "$folder"
here=$(aws sts get-caller-identity --query Account --output text)
while read -r account region stack template; do
  if [ "$account" != unknown-account ] && [ "$account" != "$here" ]; then
    echo "fetch-deployed.sh: $stack goes to the account $account, and the role is of $here: it needs one of $account" >&2
    exit 1
  fi
  [ "$region" != unknown-region ] || region=${AWS_REGION:-$AWS_DEFAULT_REGION}
  of=(--region "$region" --stack-name "$stack")
  if status=$(aws cloudformation describe-stacks "${of[@]}" --query 'Stacks[0].StackStatus' --output text 2>&1); then
    case $status in
      # There is a stack, but none of its resources.
      REVIEW_IN_PROGRESS | ROLLBACK_COMPLETE) ;;
      *) aws cloudformation get-template "${of[@]}" --output json >"$folder/$template" ;;
    esac
  elif [[ $status == *'does not exist'* ]]; then
    status='not deployed yet'
  else
    printf '%s\n' "$status" >&2
    exit 1
  fi
  echo "$stack: $status"
done <"cdk.out/$1/stacks.txt"
