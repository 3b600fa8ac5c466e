#!/bin/sh
# Each app's own migration tool, in its own folder. The URLs come by the environment, because arguments show in the
# list of processes.
set -eu

migrate_app() {
  [ -x "$PENV_ROOT/apps/$1/bin/migrate" ] || return 0
  (cd "$PENV_ROOT/apps/$1" && bin/migrate)
}
export DATABASE_URL="$SHOP_DATABASE_URL"
migrate_app api
export DATABASE_URL="$ADMIN_DATABASE_URL"
migrate_app admin
