#!/bin/sh
# migrate.sh DATABASE: applies migrations/*.sql, each once, in the order of their names, each in one transaction.
# In place of this, call the repository's own migration tool.
set -eu

export PGHOST="${PGHOST:-localhost}" PGDATABASE="$1"
sql() {
  psql -XAtqw -v ON_ERROR_STOP=1 "$@"
}

sql -c 'create table if not exists schema_migrations (name text primary key)' 2>/dev/null
for file in "$PENV_ROOT"/migrations/*.sql; do
  [ -e "$file" ] || continue
  name=$(basename "$file")
  applied=$(printf '%s\n' "select 1 from schema_migrations where name = :'name'" | sql -v name="$name")
  [ -z "$applied" ] || continue
  {
    cat "$file"
    printf '\n%s\n' "insert into schema_migrations values (:'name');"
  } | sql --single-transaction -v name="$name" -f -
done
