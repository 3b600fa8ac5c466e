#!/bin/sh
# Example data, for `penv up --seed`: each seeds/*.sql is applied once, in the order of the names and in one
# transaction, so without BEGIN or COMMIT in it.
set -eu

db=$PENV_DATA/app.db
sql() { sqlite3 -batch -bail -noheader -list -init /dev/null -cmd '.timeout 5000' "$@"; }

for file in "$PENV_ROOT"/seeds/*.sql; do
  [ -f "$file" ] || continue
  quoted=$(basename "$file" | sed "s/'/''/g")
  text=$(cat "$file")
  sql "$db" 'CREATE TABLE IF NOT EXISTS applied_seeds (name TEXT PRIMARY KEY)'
  count=$(sql "$db" "SELECT count(*) FROM applied_seeds WHERE name = '$quoted'")
  [ "$count" = 0 ] || continue
  printf "BEGIN;\n%s\n;\nINSERT INTO applied_seeds VALUES ('%s');\nCOMMIT;\n" "$text" "$quoted" | sql "$db"
done
