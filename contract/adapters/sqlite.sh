#!/bin/sh
# sqlite: files of this environment, with sqlite3 (3.27 or newer). NAME is a file name in PENV_DATA, app.db.
#   . "$PENV_ADAPTERS/sqlite.sh"; sqlite_create NAME [TEMPLATE]; sqlite_verify|drop|url NAME; sqlite_list
#   sqlite_freeze|drop_template penv_tpl_…     a template, kept beside the environments in <state>/templates
# TEMPLATE is such a name, or the path of a database that is in use, main's dev.db: what is still in its WAL comes along.
# After create, sqlite_cloned is 1 when NAME was copied just now, else empty: then migrate from nothing.
# The URL is file:/path; what wants a bare path takes "$PENV_DATA/NAME".
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

_sqlite_client() { penv_need sqlite3 'install it: apt-get install sqlite3, or brew install sqlite' >/dev/null; }

# _sqlite GOAL FILE [OPTION] <SQL: rows on stdout; waits for a busy database, then fails in SQLite's words.
_sqlite() (
  _goal=$1 _file=$2 _status=0
  shift 2
  _sqlite_client || exit 1
  { _why=$({ printf '.timeout 10000\n' && cat; } | sqlite3 -init /dev/null -batch -bail "$@" "$_file" 2>&1 >&3 3>&-) || _status=1; } 3>&1
  [ "$_status" -eq 0 ] || penv_fail "cannot $_goal: $_file: $(printf '%s\n' "$_why" | sed '2,$s/^/  /')"
)

# _sqlite_path NAME: where it is, or would be. A name that leads out of its directory is refused, and so is a link.
_sqlite_path() (
  [ -n "${PENV_DATA:-}" ] || penv_fail "the place of \"$1\" cannot be told: PENV_DATA is not set" || exit 1
  case $1 in
    '' | [.-]* | *[!A-Za-z0-9._-]* | *.penv-copying)
      penv_fail "\"$1\" is not the name of a file in PENV_DATA: use letters, digits, - _ and ." || exit 1
      ;;
    penv_tpl_?*)
      case $PENV_DATA in
        */envs/*/data) _path=${PENV_DATA%/envs/*}/templates/$1 ;;
        *) _path=$PENV_DATA/templates/$1 ;;
      esac
      ;;
    *) _path=$PENV_DATA/$1 ;;
  esac
  [ ! -L "$_path" ] || penv_fail "$_path is a link: what it leads to is not this environment's" || exit 1
  printf '%s\n' "$_path"
)

# _sqlite_is FILE: a database, going by its first bytes.
_sqlite_is() {
  [ -f "$1" ] && [ "$(LC_ALL=C head -c 15 "$1" | tr -d '\0')" = 'SQLite format 3' ]
}

# _sqlite_copy SOURCE FILE: VACUUM INTO reads the WAL too, and the name appears when the copy is complete.
_sqlite_copy() (
  [ -f "$1" ] || penv_fail "cannot copy $1: there is no such file" || exit 1
  umask 077
  rm -f "$2.penv-copying" &&
    printf "vacuum into '%s';\n" "$(printf '%s' "$2.penv-copying" | sed "s/'/''/g")" | _sqlite 'copy database' "$1" -readonly &&
    mv "$2.penv-copying" "$2"
)

# shellcheck disable=SC2034 # sqlite_cloned is for the script that sources this
sqlite_create() {
  sqlite_cloned=''
  _sqlite_file=$(_sqlite_path "$1") || return
  _sqlite_client || return
  if _sqlite_is "$_sqlite_file"; then return 0; fi
  [ ! -s "$_sqlite_file" ] || penv_fail "cannot create $_sqlite_file: a file that is not a SQLite database is there" || return
  (umask 077 && mkdir -p "${_sqlite_file%/*}") || return
  if [ -n "${2:-}" ]; then
    case $2 in
      */*) _sqlite_from=$2 ;;
      *) _sqlite_from=$(_sqlite_path "$2") || return ;;
    esac
    _sqlite_said=$(_sqlite_copy "$_sqlite_from" "$_sqlite_file" 2>&1) && sqlite_cloned=1 && return
    printf '%s\n' "$_sqlite_said" >&2
    case $_sqlite_said in *'disk is full'* | *'No space left'*) return 1 ;; esac
    printf '  "%s" is created empty instead, so every migration runs\n' "$1" >&2
  fi
  # An empty file is a database, but nothing says so: VACUUM writes the header.
  (umask 077 && printf 'vacuum;\n' | _sqlite 'create database' "$_sqlite_file")
}

# A second name (hard link) of main's file would be the same database; the canary shows that ours takes writes.
sqlite_verify() (
  _file=$(_sqlite_path "$1") || exit 1
  _sqlite_client || exit 1
  _sqlite_is "$_file" || penv_fail "cannot verify $_file: it is not a SQLite database" || exit 1
  [ -n "$(find "$_file" -prune -links 1)" ] || penv_fail "$_file has another name elsewhere, so it is not isolated" || exit 1
  printf 'begin immediate; create table penv_canary (value text); rollback;\n' | _sqlite 'verify database' "$_file"
)

sqlite_drop() (
  case $1 in penv_tpl_*) penv_fail "\"$1\" is a template and not this environment's" || exit 1 ;; esac
  _sqlite_remove "$1"
)

sqlite_drop_template() (
  penv_check_template "$1" && _sqlite_remove "$1"
)

_sqlite_remove() (
  _file=$(_sqlite_path "$1") || exit 1
  _sqlite_client || exit 1
  for _part in "$_file" "$_file-wal" "$_file-shm" "$_file-journal" "$_file.penv-copying"; do
    rm -f "$_part" || penv_fail "cannot drop $_part" || exit 1
  done
)

# All of a frozen template is in one file, which nobody may write.
sqlite_freeze() (
  penv_check_template "$1" || exit 1
  _file=$(_sqlite_path "$1") || exit 1
  _sqlite_is "$_file" || penv_fail "cannot freeze $_file: it is not a SQLite database" || exit 1
  _mode=$(printf 'pragma journal_mode = delete;\n' | _sqlite 'freeze template' "$_file") || exit 1
  [ "$_mode" = delete ] || penv_fail "cannot freeze $_file: its journal mode stays $_mode" || exit 1
  chmod 400 "$_file"
)

sqlite_url() (
  _file=$(_sqlite_path "$1") || exit 1
  printf 'file:%s\n' "$_file" | sed -e 's/%/%25/g' -e 's/ /%20/g' -e 's/?/%3F/g' -e 's/#/%23/g'
)

sqlite_list() (
  [ -d "${PENV_DATA:-}" ] || exit 0
  _sqlite_client || exit 1
  for _file in "$PENV_DATA"/*; do
    case $_file in *.penv-copying) continue ;; esac
    if _sqlite_is "$_file" && [ ! -L "$_file" ]; then printf '%s\n' "${_file##*/}"; fi
  done
)
