#!/bin/sh
# percona: another name for mysql.sh, whose verbs, variables and templates it has; percona_cloned follows mysql_cloned.
# shellcheck source=contract/adapters/mysql.sh
. "$PENV_ADAPTERS/mysql.sh"
# shellcheck disable=SC2034 # percona_cloned is for the script that sources this
percona_create() { percona_cloned='' && mysql_create "$@" && percona_cloned=$mysql_cloned; }
percona_verify() { mysql_verify "$@"; }
percona_drop() { mysql_drop "$@"; }
percona_url() { mysql_url "$@"; }
percona_list() { mysql_list; }
percona_freeze() { mysql_freeze "$@"; }
percona_drop_template() { mysql_drop_template "$@"; }
