#!/bin/sh
# Drops this environment's database and empties its index. Works after the worktree is gone, and twice.
set -eu
. "$PENV_ADAPTERS/postgres.sh"
. "$PENV_ADAPTERS/redis.sh"

database=$(penv get name preview)
index=$(penv get index redis 1-15)
postgres_drop "$database"
redis_drop "$index"
