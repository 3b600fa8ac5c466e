#!/bin/sh
# The data directory goes with the environment: nothing else was made.
set -eu

. "$PENV_ROOT/.env.preview"
rm -f -- "$NOTES_FILE"
