#!/bin/sh
# Sample rows for this environment alone: seed.sql, where the repository has one. Must be harmless twice.
set -eu

database=$(penv get name preview)
[ -e "$PENV_ROOT/seed.sql" ] || exit 0
PGHOST=${PGHOST:-localhost} psql -XAtqw -v ON_ERROR_STOP=1 -d "$database" -f "$PENV_ROOT/seed.sql"
