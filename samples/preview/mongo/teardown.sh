#!/bin/sh
# Drops this environment's database. Works after the worktree is gone, and twice.
set -eu
. "$PENV_ADAPTERS/mongodb.sh"

database=$(penv get name preview)
mongodb_drop "$database"
