#!/bin/sh
# Removes the database file of this environment and nothing else. It asks neither the worktree, which may be gone
# (then PENV_GONE is 1), nor .env.preview, which may be a copy of another environment's.
set -eu

db=$PENV_DATA/app.db

case $db in
  */"$PENV_ID"/*) rm -f "$db" "$db-wal" "$db-shm" "$db-journal" "$db.new" ;;
  *)
    printf 'teardown: %s is not of %s: nothing was removed\n' "$db" "$PENV_ID" >&2
    exit 1
    ;;
esac
