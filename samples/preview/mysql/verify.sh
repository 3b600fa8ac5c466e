#!/bin/sh
# What is written to this environment's database shows nowhere else, and the app's file names it.
set -eu
. "$PENV_ADAPTERS/mysql.sh"

database=$(penv get name preview)
mysql_verify "$database"
. "$PENV_ROOT/.env.preview"
case $DATABASE_URL in
  */"$database"*) ;;
  *)
    printf 'DATABASE_URL does not name %s\n' "$database" >&2
    exit 1
    ;;
esac
