#!/bin/sh
# bootstrap.sh build|drop: the template that new environments clone. penv decides when, by template.inputs.
set -eu
. "$PENV_ADAPTERS/postgres.sh"

case $1 in
  build)
    postgres_create "$PENV_TEMPLATE"
    sh "$PENV_DIR/migrate.sh" "$PENV_TEMPLATE"
    postgres_freeze "$PENV_TEMPLATE"
    ;;
  drop) postgres_drop_template "$PENV_TEMPLATE" ;;
esac
