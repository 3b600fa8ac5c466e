#!/bin/sh
# What is written to this environment's database and index shows nowhere else, and the app's file names them.
set -eu
. "$PENV_ADAPTERS/postgres.sh"
. "$PENV_ADAPTERS/redis.sh"

database=$(penv get name preview)
index=$(penv get index redis)
postgres_verify "$database"
redis_verify "$index"

. "$PENV_ROOT/.env.preview"
case $DATABASE_URL in
  */"$database"*) ;;
  *)
    printf 'DATABASE_URL does not name %s\n' "$database" >&2
    exit 1
    ;;
esac
