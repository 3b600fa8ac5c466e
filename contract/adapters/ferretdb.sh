#!/bin/sh
# ferretdb: another name for mongodb.sh, whose verbs, variables and templates it has; ferretdb_cloned follows mongodb_cloned.
# shellcheck source=contract/adapters/mongodb.sh
. "$PENV_ADAPTERS/mongodb.sh"
# shellcheck disable=SC2034 # ferretdb_cloned is for the script that sources this
ferretdb_create() { ferretdb_cloned='' && mongodb_create "$@" && ferretdb_cloned=$mongodb_cloned; }
ferretdb_verify() { mongodb_verify "$@"; }
ferretdb_drop() { mongodb_drop "$@"; }
ferretdb_url() { mongodb_url "$@"; }
ferretdb_list() { mongodb_list; }
ferretdb_freeze() { mongodb_freeze "$@"; }
ferretdb_drop_template() { mongodb_drop_template "$@"; }
