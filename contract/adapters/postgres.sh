#!/bin/sh
# postgres: one database for each environment on a shared PostgreSQL server (10 or newer), with psql.
#   . "$PENV_ADAPTERS/postgres.sh"; postgres_create NAME [TEMPLATE]; postgres_verify|drop|url NAME; postgres_list
#   postgres_freeze|drop_template penv_tpl_…      a template: no sessions, no changes; create clones it
# After create, postgres_cloned is 1 when NAME was cloned just now, else empty: then migrate from nothing.
# Connects as PGUSER (the system's user) to PGHOST (localhost), PGPORT (5432) with PGPASSWORD or ~/.pgpass; libpq's
# other variables (PGSSLMODE …) hold too. Databases carry the comment "penv <id>"; list shows those that do.
# Run against PostgreSQL 10.23, 15.18 and 18.4.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# _postgres GOAL DATABASE [-v name=value ...] <SQL: rows on stdout; a failure is one message in the server's words,
# with status 3 where the server refused a statement and 1 where it was not even asked.
_postgres() (
  _goal=$1 _database=$2 _host=${PGHOST:-localhost} _port=${PGPORT:-5432} _status=0
  shift 2
  penv_need psql 'install the PostgreSQL client: apt-get install postgresql-client, or brew install libpq' >/dev/null || exit 1
  unset PGSERVICE PGDATABASE PGHOSTADDR
  {
    _why=$(
      PGHOST=$_host PGPORT=$_port PGUSER=${PGUSER:-$(id -un)} PGPASSWORD=${PGPASSWORD:-} \
        PGCONNECT_TIMEOUT=${PGCONNECT_TIMEOUT:-10} \
        psql -XAtqw -v ON_ERROR_STOP=1 -v VERBOSITY=verbose "$@" -d "$_database" 2>&1 >&3 3>&-
    ) || _status=$?
  } 3>&1
  [ "$_status" -ne 0 ] || exit 0
  penv_fail "cannot $_goal on $_host:$_port: $(printf '%s\n' "$_why" |
    sed -e '/^psql:<stdin>:[0-9]*: NOTICE/d' -e '/^LOCATION:/d' -e '/^[A-Z]* NAME:/d' \
      -e 's/^psql:<stdin>:[0-9]*: //' -e 's/^psql: error: //' | sed '2,$s/^/  /')" || [ "$_status" -eq 3 ] || exit 1
  exit 3
)

# _postgres_make NAME TEMPLATE: creates and marks the database, or prints "there" and leaves it alone.
_postgres_make() (
  _postgres "create database \"$1\"${2:+ from \"$2\"}" postgres -v name="$1" -v template="$2" -v mark="$(penv_mark "$1")" <<'SQL'
select count(*) > 0 as there from pg_database where datname = :'name' \gset
\if :there
  \echo there
\else
  select format('create database %I owner %I', :'name', current_user)
    || case when :'template' = '' then '' else format(' template %I', :'template')
    || case when current_setting('server_version_num')::int >= 150000 then ' strategy file_copy' else '' end end \gexec
\endif
select format('comment on database %I is %L', datname, :'mark') from pg_database
  where datname = :'name' and :'mark' <> '' and shobj_description(oid, 'pg_database') is distinct from :'mark' \gexec
SQL
)

# shellcheck disable=SC2034 # postgres_cloned is for the script that sources this
postgres_create() {
  postgres_cloned=''
  penv_check_name "$1" 63 || return
  _postgres_status=0
  _postgres_said=$(_postgres_make "$1" "${2:-}" 2>&1) || _postgres_status=$?
  case $_postgres_status:$_postgres_said in
    0:there) return ;;
    0:*) postgres_cloned=${2:+1} && return ;;
    3:*' 42P04: '* | 3:*' 23505: '*) ;; # somebody else created it this instant
    *)
      printf '%s\n' "$_postgres_said" >&2
      # Nothing was cloned; or the disk is full (53100), or there is no server to ask, and an empty one would not help.
      case ${2:+template}:$_postgres_status:$_postgres_said in
        template:3:*' 53100: '*) return 1 ;;
        template:3:*) printf '  "%s" is created empty instead, so every migration runs\n' "$1" >&2 ;;
        *) return 1 ;;
      esac
      ;;
  esac
  _postgres_make "$1" '' >/dev/null
}

postgres_verify() (
  penv_check_name "$1" 63 && penv_check_own "$1" || exit 1
  _seen=$(_postgres "verify database \"$1\"" "$1" -v name="$1" -v mark="$(penv_mark "$1")" <<'SQL'
select current_database() = :'name' and coalesce(shobj_description(oid, 'pg_database'), :'mark') = :'mark' as ours,
  'penv_canary_' || pg_backend_pid() as canary from pg_database where datname = current_database() \gset
\if :ours
  create schema :"canary";
  \connect postgres
  select exists (select from pg_namespace where nspname = :'canary') as leaks \gset
  \connect :"name"
  drop schema :"canary";
  \if :leaks
    \echo 'what is written to it shows in the database "postgres"'
  \endif
\else
  \echo 'the server answers with another database, or one that another environment owns'
\endif
SQL
  ) || exit 1
  [ -z "$_seen" ] || penv_fail "database \"$1\" is not isolated: $_seen"
)

postgres_drop() (
  penv_check_own "$1" && _postgres_remove "$1"
)

postgres_drop_template() (
  penv_check_template "$1" && _postgres_remove "$1"
)

_postgres_remove() (
  _left=$(_postgres "drop database \"$1\"" postgres -v name="$1" <<'SQL'
select format('alter database %I is_template false', datname) from pg_database where datname = :'name' and datistemplate \gexec
select current_setting('server_version_num')::int >= 130000 as force \gset
\if :force
  select format('drop database %I with (force)', datname) from pg_database where datname = :'name' \gexec
\else
  select format('alter database %I allow_connections false', datname) from pg_database where datname = :'name' \gexec
  select pg_terminate_backend(pid) from pg_stat_activity where datname = :'name' \g /dev/null
  select format('drop database %I', datname) from pg_database where datname = :'name' \gexec
\endif
select datname from pg_database where datname = :'name';
SQL
  ) || exit 1
  [ -z "$_left" ] || penv_fail "database \"$1\" is still there after its drop"
)

postgres_freeze() (
  penv_check_template "$1" || exit 1
  _postgres "freeze template \"$1\"" postgres -v name="$1" <<'SQL'
select format('alter database %I allow_connections false', :'name') \gexec
select pg_terminate_backend(pid) from pg_stat_activity where datname = :'name' \g /dev/null
select format('alter database %I is_template true', :'name') \gexec
SQL
)

postgres_url() (
  penv_check_name "$1" 63 || exit 1
  _user=$(penv_encode "${PGUSER:-$(id -un)}")
  _host=${PGHOST:-localhost} _port=${PGPORT:-5432} _query=${PGSSLMODE:+sslmode=$PGSSLMODE}
  case $_host in
    /*) _query="host=$(penv_encode "$_host")&port=$_port${_query:+&$_query}" _host='' _port='' ;;
    *:*) _host="[$_host]" ;;
  esac
  [ -z "${PGPASSWORD:-}" ] || _user=$_user:$(penv_encode "$PGPASSWORD")
  printf 'postgresql://%s@%s/%s%s\n' "$_user" "$_host${_port:+:$_port}" "$1" "${_query:+?$_query}"
)

postgres_list() (
  _postgres 'list databases' postgres <<'SQL'
select datname from pg_database
  where shobj_description(oid, 'pg_database') like 'penv %' and shobj_description(oid, 'pg_database') <> 'penv template' order by 1;
SQL
)
