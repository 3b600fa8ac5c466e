#!/bin/sh
# The containers of this project run, and none of them is published on a port that is not ours.
set -eu

project=$(penv get name preview --style kebab)
db_port=$(penv get port db)
running=$(docker compose --project-name "$project" ps --quiet)
[ -n "$running" ] || {
  printf 'no container of %s runs\n' "$project" >&2
  exit 1
}
published=$(docker compose --project-name "$project" port db 5432)
case $published in
  *":$db_port") ;;
  *)
    printf 'db is published on %s, not on %s\n' "$published" "$db_port" >&2
    exit 1
    ;;
esac
