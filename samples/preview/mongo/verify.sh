#!/bin/sh
# What is written to this environment's database shows nowhere else, and the app's file names it.
set -eu
. "$PENV_ADAPTERS/mongodb.sh"

database=$(penv get name preview)
mongodb_verify "$database"
. "$PENV_ROOT/.env.preview"
case $MONGODB_URI in
  */"$database"*) ;;
  *)
    printf 'MONGODB_URI does not name %s\n' "$database" >&2
    exit 1
    ;;
esac
