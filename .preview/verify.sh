#!/bin/sh
# The state directory is this environment's own, and is there.
set -eu

. "$PENV_ROOT/.env.preview"
[ "$PENV_HOME" = "$PENV_DATA/state" ] && [ -d "$PENV_HOME" ]
