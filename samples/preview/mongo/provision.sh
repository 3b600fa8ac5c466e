#!/bin/sh
# One MongoDB database of a shared server, and a port. Copy the folder to .preview/.
# The server is that of MONGO_URL; the app reads MONGODB_URI and PORT.
set -eu
. "$PENV_ADAPTERS/mongodb.sh"

database=$(penv get name preview)
port=$(penv get port web)
mongodb_create "$database" "$PENV_TEMPLATE"
url=$(mongodb_url "$database")

# Through stdin: a URL with a password must not show in the list of processes.
penv env <<EOT
PORT=$port
MONGODB_URI=$url
EOT

# A clone of a fresh template has every migration already.
if [ -z "$PENV_NO_MIGRATE" ] && [ "${mongodb_cloned:-}$PENV_TEMPLATE_FRESH" != 11 ]; then
  MONGODB_URI=$url sh "$PENV_DIR/migrate.sh"
fi
