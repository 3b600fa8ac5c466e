#!/bin/sh
# Removes the containers, networks and volumes of this project alone. The project's name is enough, so this works
# after the worktree is gone.
set -eu

project=$(penv get name preview --style kebab)
docker compose --project-name "$project" down --volumes --remove-orphans
