#!/bin/sh
# Checks from the app's side that its notes file lies in this environment's data directory.
set -eu

. "$PENV_ROOT/.env.preview"
case $NOTES_FILE in
  "$PENV_DATA"/*) ;;
  *)
    printf 'NOTES_FILE is not in %s\n' "$PENV_DATA" >&2
    exit 1
    ;;
esac
