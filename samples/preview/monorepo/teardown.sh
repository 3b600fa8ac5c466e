#!/bin/sh
# Drops both databases of this environment. Works after the worktree is gone, and twice.
set -eu
. "$PENV_ADAPTERS/postgres.sh"

shop=$(penv get name shop)
admin=$(penv get name admin)
postgres_drop "$shop"
postgres_drop "$admin"
