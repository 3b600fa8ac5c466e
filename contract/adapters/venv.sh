#!/bin/sh
# venv: a Python virtual environment of this worktree's own, since another checkout's holds that branch's packages, and its code.
#   . "$PENV_ADAPTERS/venv.sh"; venv_use [DIRECTORY]     puts .venv first on PATH, as its activate does
# It is made where there is none, where it was copied from another place or was never finished, and where its Python is gone.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

venv_use() {
  _venv_name=${1:-.venv}
  _venv_path=$(pwd -P)/$_venv_name
  _venv_check "$_venv_name" || return 1
  _venv_is_whole "$_venv_path" || _venv_make "$_venv_path" || return 1
  unset PYTHONHOME
  VIRTUAL_ENV=$_venv_path
  PATH=$_venv_path/bin:$PATH
  export VIRTUAL_ENV PATH
}

# Only a virtual environment that lies here may be made anew.
_venv_check() {
  if [ -L "$1" ]; then
    penv_fail "$1 is a link: what is installed there is installed for another checkout, too
  To have one of this worktree's own, run: rm $1"
  elif [ -e "$1" ] && [ ! -e "$1/pyvenv.cfg" ] && [ -n "$(ls -A "$1")" ]; then
    penv_fail "$1 is there and is no virtual environment"
  fi
}

# activate is written last, and names the place that the programs beside it begin with.
_venv_is_whole() {
  grep -qsF "$1" "$1/bin/activate" && "$1/bin/python" -c '' 2>/dev/null
}

# Left out of git as Python 3.13 does it by itself.
_venv_make() {
  penv_need python3 'install Python 3: apt-get install python3-venv, or brew install python' >/dev/null || return 1
  python3 -m venv --clear "$1" || penv_fail "cannot make the virtual environment $1" || return 1
  [ -e "$1/.gitignore" ] || printf '*\n' >"$1/.gitignore"
}
