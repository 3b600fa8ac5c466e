#!/bin/sh
# The repository's own migration tool. DATABASE_URL points at the database to migrate; by the environment, because
# arguments show in the list of processes. Put the tool's command in place of the lines below: exec npm run migrate
set -eu

[ ! -x "$PENV_ROOT/bin/migrate" ] || exec "$PENV_ROOT/bin/migrate"
printf '%s\n' "no bin/migrate here: ${DATABASE_URL%%:*} database is not migrated" >&2
