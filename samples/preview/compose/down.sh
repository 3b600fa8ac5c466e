#!/bin/sh
# Stops the containers of this project alone; volumes stay.
set -eu

project=$(penv get name preview --style kebab)
docker compose --project-name "$project" stop
