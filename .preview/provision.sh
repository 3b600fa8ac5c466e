#!/bin/sh
# Gives each worktree of penv a state directory and a port of its own, so that a penv under development
# never meets the one that is installed: penv exec -- node dist/penv.cjs list
set -eu

port=$(penv get port dev)
mkdir -p "$PENV_DATA/state"
penv env "PORT=$port" "PENV_HOME=$PENV_DATA/state"
