#!/bin/sh
# Drops this environment's database. Works after the worktree is gone, and twice.
set -eu
. "$PENV_ADAPTERS/mysql.sh"

database=$(penv get name preview)
mysql_drop "$database"
