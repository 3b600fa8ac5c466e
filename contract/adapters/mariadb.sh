#!/bin/sh
# mariadb: another name for mysql.sh, whose verbs, variables and templates it has; mariadb_cloned follows mysql_cloned.
# shellcheck source=contract/adapters/mysql.sh
. "$PENV_ADAPTERS/mysql.sh"
# shellcheck disable=SC2034 # mariadb_cloned is for the script that sources this
mariadb_create() { mariadb_cloned='' && mysql_create "$@" && mariadb_cloned=$mysql_cloned; }
mariadb_verify() { mysql_verify "$@"; }
mariadb_drop() { mysql_drop "$@"; }
mariadb_url() { mysql_url "$@"; }
mariadb_list() { mysql_list; }
mariadb_freeze() { mysql_freeze "$@"; }
mariadb_drop_template() { mysql_drop_template "$@"; }
