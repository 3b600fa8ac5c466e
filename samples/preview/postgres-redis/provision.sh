#!/bin/sh
# One PostgreSQL database and one Redis index of shared servers, and a port. Copy the folder to .preview/.
# The servers are those of PGHOST … and REDIS_HOST …; the app reads DATABASE_URL, REDIS_URL and PORT.
set -eu
. "$PENV_ADAPTERS/postgres.sh"
. "$PENV_ADAPTERS/redis.sh"

database=$(penv get name preview)
index=$(penv get index redis 1-15)
port=$(penv get port web)

postgres_create "$database" "$PENV_TEMPLATE"
redis_create "$index"
database_url=$(postgres_url "$database")
redis_url=$(redis_url "$index")

# Through stdin: a URL with a password must not show in the list of processes.
penv env <<EOT
PORT=$port
DATABASE_URL=$database_url
REDIS_URL=$redis_url
EOT

# A clone of a fresh template has every migration already.
if [ -z "$PENV_NO_MIGRATE" ] && [ "${postgres_cloned:-}$PENV_TEMPLATE_FRESH" != 11 ]; then
  sh "$PENV_DIR/migrate.sh" "$database"
fi
