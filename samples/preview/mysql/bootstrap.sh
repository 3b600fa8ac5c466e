#!/bin/sh
# bootstrap.sh build|drop: the template that new environments clone. penv decides when, by template.inputs.
set -eu
. "$PENV_ADAPTERS/mysql.sh"

case $1 in
  build)
    mysql_create "$PENV_TEMPLATE"
    url=$(mysql_url "$PENV_TEMPLATE")
    DATABASE_URL=$url sh "$PENV_DIR/migrate.sh"
    mysql_freeze "$PENV_TEMPLATE"
    ;;
  drop) mysql_drop_template "$PENV_TEMPLATE" ;;
esac
