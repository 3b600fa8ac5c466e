#!/bin/sh
# This worktree gets a port and a SQLite file of its own. Each migrations/*.sql is applied to it once, in the order of
# the names and in one transaction, so without BEGIN or COMMIT in it. With `penv up --seed` the file begins as a copy
# of main's data/app.db. To use it, copy this folder to .preview/. Needs sqlite3 3.27 or newer.
set -eu

fail() { printf 'provision: %s\n' "$1" >&2 && exit 1; }
command -v sqlite3 >/dev/null || fail 'sqlite3 is not on PATH; on Debian: apt-get install sqlite3'
# -init: not with the settings of whoever runs this.
sql() { sqlite3 -batch -bail -noheader -list -init /dev/null -cmd '.timeout 5000' "$@"; }

port=$(penv get port web)
penv env "PORT=$port" "DATABASE_FILE=$PENV_DATA/app.db"
cd "$PENV_DATA"

main=${PENV_MAIN:+$PENV_MAIN/data/app.db}
if [ "$PENV_SEED" ] && [ ! -e app.db ] && [ -f "$main" ]; then
  rm -f app.db.new
  # A copy of the file alone would lack what is in its log. Where there is a log, closing must not write it back.
  if [ -e "$main-wal" ]; then readonly=-readonly; else readonly=-batch; fi
  sql "$readonly" "$main" "VACUUM INTO 'app.db.new'"
  applied=$(sql app.db.new 'SELECT version FROM schema_migrations') || fail "$main has no list of its migrations"
  printf '%s\n' "$applied" | while IFS= read -r name; do
    [ -f "$PENV_ROOT/migrations/$name" ] || [ -z "$name" ] || fail "$main has a migration that this branch lacks: $name"
  done
  mv app.db.new app.db
fi
[ -e app.db ] || : >app.db

is_applied() { [ "$(sql app.db "SELECT count(*) FROM schema_migrations WHERE version = '$quoted'")" = 1 ]; }
for file in "$PENV_ROOT"/migrations/*.sql; do
  if [ "$PENV_NO_MIGRATE" ] || [ ! -f "$file" ]; then continue; fi
  text=$(cat "$file")
  quoted=$(basename "$file" | sed "s/'/''/g")
  sql app.db 'CREATE TABLE IF NOT EXISTS schema_migrations (version TEXT PRIMARY KEY)'
  if is_applied; then continue; fi
  printf "BEGIN;\n%s\n;\nINSERT INTO schema_migrations VALUES ('%s');\nCOMMIT;\n" "$text" "$quoted" | sql app.db
  is_applied || fail "$file ends within a comment"
done
