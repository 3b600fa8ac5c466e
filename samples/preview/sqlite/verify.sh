#!/bin/sh
# Checks what the app will see: .env.preview has the port that this environment holds, and a database file that is
# this environment's own, wherever symlinks lead, sound, and can be written to.
set -eu

fail() {
  printf 'verify: %s\n' "$1" >&2
  exit 1
}
sql() { sqlite3 -batch -bail -noheader -list -init /dev/null -cmd '.timeout 5000' "$@"; }

# From the file alone, whatever the caller's shell has.
unset PORT DATABASE_FILE
# shellcheck source=/dev/null
. "$PENV_ROOT/.env.preview"

port=$(penv get port web)
[ "${PORT:-}" = "$port" ] || fail "PORT is ${PORT:-not set}, but this environment holds $port"

db=${DATABASE_FILE:-}
[ -f "$db" ] || fail "DATABASE_FILE is ${db:-not set}: there is no such file"
real=$(cd -P "$(dirname "$db")" && pwd)/${db##*/}
own=$(cd -P "$PENV_DATA" && pwd)/app.db
if [ "$real" != "$own" ] || [ -L "$db" ]; then fail "DATABASE_FILE leads to $real, not to this environment's $own"; fi

state=$(sql "$db" 'PRAGMA quick_check')
[ "$state" = ok ] || fail "$db is damaged: $state"
sql "$db" 'BEGIN IMMEDIATE; ROLLBACK' || fail "$db cannot be written to"
