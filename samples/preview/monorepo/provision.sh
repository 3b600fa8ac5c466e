#!/bin/sh
# Three apps of one repository: each gets a port and, where it has one, a database; each reads its own env file.
set -eu
. "$PENV_ADAPTERS/postgres.sh"

ports=$(penv get port web api admin --export)
shop=$(penv get name shop)
admin=$(penv get name admin)
postgres_create "$shop"
postgres_create "$admin"
shop_url=$(postgres_url "$shop")
admin_url=$(postgres_url "$admin")

web_port=$(printf '%s\n' "$ports" | sed -n 's/^WEB=//p')
api_port=$(printf '%s\n' "$ports" | sed -n 's/^API=//p')
admin_port=$(printf '%s\n' "$ports" | sed -n 's/^ADMIN=//p')

penv env <<EOT
WEB_PORT=$web_port
API_PORT=$api_port
ADMIN_PORT=$admin_port
API_URL=http://localhost:$api_port
SHOP_DATABASE_URL=$shop_url
ADMIN_DATABASE_URL=$admin_url
EOT
[ -n "$PENV_NO_MIGRATE" ] ||
  SHOP_DATABASE_URL=$shop_url ADMIN_DATABASE_URL=$admin_url sh "$PENV_DIR/migrate.sh"
