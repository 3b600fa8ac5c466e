#!/bin/sh
# Both databases are reachable and nobody else's, and the three apps have three ports.
set -eu
. "$PENV_ADAPTERS/postgres.sh"

shop=$(penv get name shop)
admin=$(penv get name admin)
postgres_verify "$shop"
postgres_verify "$admin"
. "$PENV_ROOT/.env.preview"
[ "$WEB_PORT" != "$API_PORT" ] && [ "$API_PORT" != "$ADMIN_PORT" ]
