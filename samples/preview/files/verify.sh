#!/bin/sh
# Checks what the app will see: .env.preview has the port that this environment holds, and a data directory that is
# this environment's own, wherever symlinks lead, and can be written to.
set -eu

fail() {
  printf 'verify: %s\n' "$1" >&2
  exit 1
}

# From the file alone, whatever the caller's shell has.
unset PORT DATA_DIR
# shellcheck source=/dev/null
. "$PENV_ROOT/.env.preview"

port=$(penv get port web)
[ "${PORT:-}" = "$port" ] || fail "PORT is ${PORT:-not set}, but this environment holds $port"

[ -d "${DATA_DIR:-}" ] || fail "DATA_DIR is ${DATA_DIR:-not set}: there is no such directory"
real=$(cd -P "$DATA_DIR" && pwd)
own=$(cd -P "$PENV_DATA" && pwd)/notes
[ "$real" = "$own" ] || fail "DATA_DIR leads to $real, but this environment's data is in $own"

canary=$DATA_DIR/.verify.$$
{ printf '%s\n' "$PENV_ID" >"$canary" && rm "$canary"; } || fail "$DATA_DIR cannot be written to"
