#!/bin/sh
# bootstrap.sh build|drop: the template that new environments clone. penv decides when, by template.inputs.
set -eu
. "$PENV_ADAPTERS/mongodb.sh"

case $1 in
  build)
    mongodb_create "$PENV_TEMPLATE"
    url=$(mongodb_url "$PENV_TEMPLATE")
    MONGODB_URI=$url sh "$PENV_DIR/migrate.sh"
    mongodb_freeze "$PENV_TEMPLATE"
    ;;
  drop) mongodb_drop_template "$PENV_TEMPLATE" ;;
esac
