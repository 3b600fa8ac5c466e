#!/bin/sh
# Tier 0: this worktree gets a port and a data directory of its own; no server is shared.
# To use it, copy this folder to .preview/ and let the app read PORT and DATA_DIR from .env.preview.
set -eu

port=$(penv get port web)
data=$PENV_DATA/notes

mkdir -p "$data"
penv env "PORT=$port" "DATA_DIR=$data"
