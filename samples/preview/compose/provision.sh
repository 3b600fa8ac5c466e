#!/bin/sh
# A compose project of its own for each environment: own containers, networks and volumes, published on own ports.
# The compose file takes its published ports from variables: ports: ["${DB_PORT:-5432}:5432"]
set -eu

port=$(penv get port web)
db_port=$(penv get port db)
# Docker wants a project name of a-z, 0-9, - and _ that starts with a letter or digit.
project=$(penv get name preview --style kebab)

penv env <<EOT
COMPOSE_PROJECT_NAME=$project
PORT=$port
DB_PORT=$db_port
DATABASE_URL=postgresql://postgres:postgres@localhost:$db_port/postgres
EOT
docker compose --env-file "$PENV_ROOT/.env.preview" --project-name "$project" up --detach --wait
