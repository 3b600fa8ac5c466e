#!/bin/sh
# mysql: one database for each environment on a shared MySQL, MariaDB or Percona server, with the mysql or mariadb client.
#   . "$PENV_ADAPTERS/mysql.sh"; mysql_create NAME [TEMPLATE]; mysql_verify|drop|url NAME; mysql_list
#   mysql_freeze|drop_template penv_tpl_…      a template; create copies its rows inside the server
# After create, mysql_cloned is 1 when NAME was copied just now, else empty: then migrate from nothing.
# Connects by TCP as MYSQL_USER (root) to MYSQL_HOST (127.0.0.1), MYSQL_TCP_PORT (3306) with MYSQL_PWD or ~/.my.cnf.
# The mark of a database is the comment of a procedure penv_owner in it, "penv <id>": list needs it, and no table is added.
# Run against MariaDB 10.11; not yet against Oracle's MySQL.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# _mysql_run GOAL PROGRAM [OPTION ...]: its output; a failure is one message in the server's words.
# --no-defaults must come first, and the password goes by the environment alone.
_mysql_run() (
  _goal=$1 _program=$2 _host=${MYSQL_HOST:-127.0.0.1} _port=${MYSQL_TCP_PORT:-3306} _status=0
  shift 2
  set -- --host="$_host" --port="$_port" --user="${MYSQL_USER:-root}" --protocol=TCP --default-character-set=utf8mb4 "$@"
  [ -z "${MYSQL_PWD:-}" ] || set -- --no-defaults "$@"
  { _why=$(MYSQL_PWD=${MYSQL_PWD:-} "$_program" "$@" 2>&1 >&3 3>&-) || _status=1; } 3>&1
  [ "$_status" -eq 0 ] ||
    penv_fail "cannot $_goal on $_host:$_port: $(printf '%s\n' "$_why" | sed -e '/Deprecated program name/d' -e '2,$s/^/  /')"
)

# _mysql GOAL [DATABASE [OPTION]] <SQL: rows on stdout. Names in it have passed penv_check_name, so that none needs quoting.
_mysql() (
  _client=$(penv_need 'mysql mariadb' 'install a client: apt-get install mariadb-client, or brew install mysql-client') || exit 1
  _mysql_run "$1" "$_client" --batch --skip-column-names --raw --connect-timeout=10 ${3:+"$3"} "${2:-information_schema}"
)

# _mysql_find NAME: "none", or "there " and the mark.
_mysql_find() (
  _mysql "look for database \"$1\"" <<SQL
select coalesce((select concat('there ', coalesce((select routine_comment from routines
  where routine_schema = '$1' and routine_name = 'penv_owner'), '')) from schemata where schema_name = '$1'), 'none');
SQL
)

_mysql_mark() (
  [ -z "$2" ] || _mysql "mark database \"$1\"" "$1" <<SQL
drop procedure if exists penv_owner;
create procedure penv_owner() comment '$2' select '$2';
SQL
)

# _mysql_copy NAME TEMPLATE: structure by the dump program, rows inside the server, triggers last so that none fires.
_mysql_copy() (
  _goal="copy database \"$2\" to \"$1\""
  _dump=$(penv_need 'mysqldump mariadb-dump' 'install it: apt-get install mariadb-client, or brew install mysql-client') || exit 1
  _dump() {
    _mysql_run "$_goal" "$_dump" --no-data --no-tablespaces --skip-lock-tables --skip-comments \
      --loose-set-gtid-purged=OFF --loose-column-statistics=0 "$@"
  }
  _structure=$(_dump --skip-triggers --routines --events "$2") || exit 1
  printf '%s\n' "$_structure" | _mysql "$_goal" "$1" || exit 1
  _rows=$(
    _mysql "$_goal" <<SQL
set session group_concat_max_len = 16777216, @q = char(96), @qq = concat(char(96), char(96));
select concat('insert into ', t, ' (', group_concat(c order by n), ') select ', group_concat(c order by n), ' from $2.', t, ';')
from (select concat(@q, replace(table_name, @q, @qq), @q) as t, concat(@q, replace(column_name, @q, @qq), @q) as c, ordinal_position as n
  from columns join tables using (table_schema, table_name)
  where table_schema = '$2' and table_type in ('BASE TABLE', 'SYSTEM VERSIONED') and coalesce(generation_expression, '') = '') as kept
group by t;
SQL
  ) || exit 1
  _triggers=$(_dump --no-create-info --triggers "$2") || exit 1
  _mysql "$_goal" "$1" <<SQL
set foreign_key_checks = 0, unique_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00';
$_rows
$_triggers
SQL
)

# _mysql_make NAME TEMPLATE: a copy is marked as unfinished until it is complete, so that a killed one starts over.
_mysql_make() (
  _charset=''
  if [ -n "$2" ]; then
    _charset=$(
      _mysql "read database \"$2\"" <<SQL
select concat('character set ', default_character_set_name, ' collate ', default_collation_name) from schemata where schema_name = '$2';
SQL
    ) || exit 1
    [ -n "$_charset" ] || penv_fail "cannot copy database \"$2\" to \"$1\": there is no \"$2\"" || exit 1
  fi
  printf 'create database %s %s;\n' "$1" "$_charset" | _mysql "create database \"$1\"" || exit 1
  [ -z "$2" ] || { _mysql_mark "$1" 'penv copying' && _mysql_copy "$1" "$2"; } || exit 1
  _mysql_mark "$1" "$(penv_mark "$1")"
)

# shellcheck disable=SC2034 # mysql_cloned is for the script that sources this
mysql_create() {
  mysql_cloned=''
  penv_check_name "$1" 64 && { [ -z "${2:-}" ] || penv_check_name "$2" 64; } || return
  _mysql_state=$(_mysql_find "$1") || return
  _mysql_ours=$(penv_mark "$1")
  case $_mysql_state in
    none) ;;
    "there $_mysql_ours") return ;;
    'there ') _mysql_mark "$1" "$_mysql_ours" && return || return ;;
    'there penv copying' | 'there penv template') _mysql_remove "$1" || return ;;
    *) penv_fail "cannot create database \"$1\": ${_mysql_state#there penv } owns it" || return ;;
  esac
  if [ -n "${2:-}" ]; then
    _mysql_said=$(_mysql_make "$1" "$2" 2>&1) && mysql_cloned=1 && return
    printf '%s\n' "$_mysql_said" >&2
    case $_mysql_said in
      *'ERROR 1021 '* | *'ERROR 1114 '* | *'errno: 28 '*) return 1 ;; # a full disk: an empty database would not help
    esac
    _mysql_remove "$1" || return
    printf '  "%s" is created empty instead, so every migration runs\n' "$1" >&2
  fi
  _mysql_make "$1" ''
}

mysql_verify() (
  penv_check_name "$1" 64 && penv_check_own "$1" || exit 1
  _state=$(_mysql_find "$1") || exit 1
  case $_state in
    'there ' | "there $(penv_mark "$1")") ;;
    *) penv_fail "cannot verify database \"$1\": the server answers \"$_state\", not ours" || exit 1 ;;
  esac
  _seen=$(
    _mysql "verify database \"$1\"" "$1" <<SQL
create table penv_canary_$$ (value int);
select concat_ws(' ', 'writes of ours show in', table_schema) from information_schema.tables
  where table_name = 'penv_canary_$$' and table_schema <> '$1' or database() <> '$1' limit 1;
drop table penv_canary_$$;
SQL
  ) || exit 1
  [ -z "$_seen" ] || penv_fail "database \"$1\" is not isolated: $_seen"
)

mysql_drop() (
  penv_check_name "$1" 64 && penv_check_own "$1" && _mysql_remove "$1"
)

mysql_drop_template() (
  penv_check_template "$1" && _mysql_remove "$1"
)

# _mysql_remove NAME: ends its sessions; one that may not be ended, or that has a transaction open, fails the drop in time.
_mysql_remove() (
  _kills=$(
    _mysql "drop database \"$1\"" <<SQL
select concat('kill ', id, ';') from processlist where db = '$1';
SQL
  ) || exit 1
  # A session that ended by itself meanwhile is no failure, and of any other the drop below tells.
  [ -z "$_kills" ] || printf '%s\n' "$_kills" | _mysql 'end sessions' '' --force 2>/dev/null || :
  _left=$(
    _mysql "drop database \"$1\"" <<SQL
set lock_wait_timeout = 10;
drop database if exists $1;
select schema_name from schemata where schema_name = '$1';
SQL
  ) || exit 1
  [ -z "$_left" ] || penv_fail "database \"$1\" is still there after its drop"
)

# Nothing locks a database on every server of this family: freezing says whether the template is complete.
mysql_freeze() (
  penv_check_template "$1" || exit 1
  _state=$(_mysql_find "$1") || exit 1
  [ "$_state" = 'there penv template' ] || penv_fail "cannot freeze template \"$1\": the server answers \"$_state\""
)

mysql_url() (
  penv_check_name "$1" 64 || exit 1
  _user=$(penv_encode "${MYSQL_USER:-root}") _host=${MYSQL_HOST:-127.0.0.1}
  case $_host in *:*) _host="[$_host]" ;; esac
  [ -z "${MYSQL_PWD:-}" ] || _user=$_user:$(penv_encode "$MYSQL_PWD")
  printf 'mysql://%s@%s:%s/%s\n' "$_user" "$_host" "${MYSQL_TCP_PORT:-3306}" "$1"
)

mysql_list() (
  _mysql 'list databases' <<SQL
select routine_schema from routines
  where routine_name = 'penv_owner' and routine_comment like 'penv %' and routine_comment <> 'penv template' order by 1;
SQL
)
