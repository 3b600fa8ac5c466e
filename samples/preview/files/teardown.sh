#!/bin/sh
# Removes the data of this environment and nothing else. It asks neither the worktree, which may be gone (then
# PENV_GONE is 1), nor .env.preview, which may be a copy of another environment's.
set -eu

data=$PENV_DATA/notes

case $data in
  */"$PENV_ID"/*) rm -rf "$data" ;;
  *)
    printf 'teardown: %s is not of %s: nothing was removed\n' "$data" "$PENV_ID" >&2
    exit 1
    ;;
esac
