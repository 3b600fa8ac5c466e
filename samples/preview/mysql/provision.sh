#!/bin/sh
# One MySQL or MariaDB database of a shared server, and a port. Copy the folder to .preview/.
# The server is that of MYSQL_HOST …; the app reads DATABASE_URL and PORT.
set -eu
. "$PENV_ADAPTERS/mysql.sh"

database=$(penv get name preview)
port=$(penv get port web)
mysql_create "$database" "$PENV_TEMPLATE"
url=$(mysql_url "$database")

# Through stdin: a URL with a password must not show in the list of processes.
penv env <<EOT
PORT=$port
DATABASE_URL=$url
EOT

# A clone of a fresh template has every migration already.
if [ -z "$PENV_NO_MIGRATE" ] && [ "${mysql_cloned:-}$PENV_TEMPLATE_FRESH" != 11 ]; then
  DATABASE_URL=$url sh "$PENV_DIR/migrate.sh"
fi
