#!/bin/sh
# Example data, for `penv up --seed`. A note that is there already stays as it is.
set -eu

note=$PENV_DATA/notes/welcome.txt

if [ ! -s "$note" ]; then
  printf 'Only %s has this note.\n' "$PENV_ID" >"$note"
fi
