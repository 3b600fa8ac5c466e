#!/bin/sh
# Gives this worktree a port and a notes file of its own. Run twice equals once.
set -eu

port=$(penv get port web)
penv env "PORT=$port" "NOTES_FILE=$PENV_DATA/notes.json"
