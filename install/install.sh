#!/bin/sh
# Installs penv from a clone, for the user who runs it: sh install/install.sh
#
#   --prefix DIR   where bin/ and lib/penv/ go (~/.local unless given)
#   --shell NAME   whose rc file puts bin/ on PATH: bash, zsh or fish (the login shell's unless given)
#   --no-rc        leave the rc files alone
#   --help         print this
#
# Builds dist/penv.cjs where it is missing or older than its sources. Running it again changes only what is
# not as it should be. To undo it, run uninstall.sh beside this file.
set -eu
umask 022
LC_ALL=C && export LC_ALL
unset CDPATH

here=$(cd -P "$(dirname "$0")" && pwd)
source=${here%/*}
if [ ! -f "$here/tree.sh" ]; then
  printf 'penv: install.sh needs the clone that it belongs to\n  To install, run there: sh install/install.sh\n' >&2
  exit 1
fi
# shellcheck source=install/tree.sh
. "$here/tree.sh"
# shellcheck source=install/rc.sh
. "$here/rc.sh"
# shellcheck source=install/place.sh
. "$here/place.sh"

without_rc='To leave the rc files alone, add: --no-rc'

read_options() {
  prefix='' shell='' wants_rc=1
  while [ $# -gt 0 ]; do
    option=${1%%=*}
    case $1 in
      --prefix=* | --shell=*) value=${1#*=} && shift ;;
      --prefix | --shell)
        [ $# -ge 2 ] || usage "$1 needs a value"
        value=$2 && shift 2
        ;;
      --no-rc) wants_rc='' && shift && continue ;;
      -h | --help) print_help && exit 0 ;;
      *) usage "unknown option: $1" ;;
    esac
    [ -n "$value" ] || usage "$option needs a value"
    case $option in --prefix) prefix=$value ;; *) shell=$value ;; esac
  done
  case $shell in '' | bash | zsh | fish) ;; *) usage "--shell is bash, zsh or fish, not $shell" ;; esac
}

check_programs() {
  command -v git >/dev/null || fail 'git is not on PATH: penv works on git worktrees'
  command -v node >/dev/null || fail 'node is not on PATH: penv needs Node 20.19 or newer'
}

# Sets node, home and login_shell (empty where nobody knows them), prefix, lib and bin. Node knows the password
# database, and writes a path that does not exist yet in one way only. Nobody expands the ~ of --prefix=~/x.
find_place() {
  case $prefix in *"
"*) fail 'the prefix has a line break in it' ;; esac
  facts=$(node -e '
    const [major, minor] = process.versions.node.split(".").map(Number)
    if (major < 20 || (major === 20 && minor < 19)) process.exit(1)
    const user = (() => { try { return os.userInfo() } catch { return {} } })()
    const home = [process.env.HOME, user.homedir].find(place => place && path.isAbsolute(place))
    const given = process.argv[1] || "~/.local"
    const needsHome = given === "~" || given.startsWith("~/")
    const prefix = needsHome ? home && path.join(home, given.slice(1)) : given
    const lines = [process.execPath, home && path.resolve(home), user.shell, prefix && path.resolve(prefix), "end"]
    console.log(lines.join("\n"))
  ' -- "$prefix") || fail "node on PATH is $(node --version): penv needs Node 20.19 or newer"
  {
    IFS= read -r node
    IFS= read -r home
    IFS= read -r login_shell
    IFS= read -r prefix
  } <<FACTS
$facts
FACTS
  [ -n "$prefix" ] || fail 'HOME is not set: no place to install to' 'To choose one, add: --prefix DIR --no-rc'
  lib=${prefix%/}/lib/penv bin=${prefix%/}/bin
}

# Sets rc_list: the rc files to edit, one per line.
find_rc_files() {
  rc_list=''
  [ "$wants_rc" ] || return 0
  if [ -z "$shell" ]; then
    shell=${SHELL:-$login_shell}
    shell=${shell##*/}
    case $shell in bash | zsh | fish) ;; *) return 0 ;; esac
  fi
  [ -n "$home" ] || fail 'HOME is not set: no rc file can be found' "$without_rc"
  case $bin in *:*) fail "$bin cannot be on PATH: it has a colon in it" "$without_rc" ;; esac
  rc_list=$(rc_files "$shell" "$home")
}

# Refuses before anything is written.
check_place() {
  has_manifest "$lib" || is_free "$lib" ||
    fail "$lib exists and was not made by install.sh" 'To install elsewhere, add: --prefix DIR'
  for name in penv git-penv; do
    if [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
      is_launcher "$bin/$name" ||
        fail "$bin/$name exists and was not made by install.sh" 'To install elsewhere, add: --prefix DIR'
    fi
  done
  while IFS= read -r rc; do
    [ -n "$rc" ] || continue
    problem=$(rc_problem "$rc")
    [ -z "$problem" ] || fail "cannot put $bin on PATH in $rc: $problem" "$without_rc"
  done <<LIST
$rc_list
LIST
  if [ "$(id -u)" = 0 ] && [ "${SUDO_UID:-0}" != 0 ] && [ "$(stat_owner "$home")" = "$SUDO_UID" ]; then
    case $rc_list$prefix in
      *"$home"/*)
        fail "with sudo this would leave files of root in $home" \
          'To install for all users, add: --prefix /usr/local --no-rc'
        ;;
    esac
  fi
}

# shellcheck disable=SC2012 # stat has no common options on Linux and macOS
stat_owner() { ls -ldn "$1" | awk '{ print $3 }'; }

needs_build() {
  [ -f "$source/dist/penv.cjs" ] || return 0
  [ -d "$source/src" ] || return 1
  [ -n "$(find "$source/src" "$source/package.json" -type f -newer "$source/dist/penv.cjs")" ]
}

build() {
  [ -f "$source/package.json" ] || fail "no package.json in $source: install.sh works from a clone of penv"
  command -v npm >/dev/null || fail 'npm is not on PATH: it is needed to build dist/penv.cjs'
  printf 'penv: building %s\n' "$source/dist/penv.cjs" >&2
  (
    cd "$source" && { [ -x node_modules/.bin/esbuild ] || npm ci --include=dev --ignore-scripts; } && npm run build
  ) </dev/null >&2 || fail "the build in $source failed" 'To try it alone, run there: npm ci && npm run build'
  [ -f "$source/dist/penv.cjs" ] || fail "the build in $source made no dist/penv.cjs"
}

clean_up() {
  status=$?
  trap - EXIT
  [ -z "$stage" ] || remove_version "$stage"
  [ -z "$frame" ] || remove_unplaced "$frame"
  rm -f "$lib/.manifest.$$" "$lib/.current.$$" "$lib/.previous.$$" "$bin/.penv.$$"
  if has_manifest "$lib" && [ ! -L "$lib/current" ]; then remove_frame "$lib"; fi
  rm -rf "$scratch"
  exit "$status"
}

# shellcheck disable=SC2016 # $PATH is for the shell of who reads it
print_next_step() {
  case $shell:$PATH: in
    *:"$bin":*) ;;
    fish:*) printf 'To use it in this shell, run: set -gx PATH %s $PATH\n' "$(rc_word fish "$bin")" ;;
    *) printf 'To use it in this shell, run: PATH=%s:"$PATH"\n' "$(rc_word sh "$bin")" ;;
  esac
  if [ "$wants_rc" ] && [ -z "$rc_list" ]; then
    printf 'penv: no rc file was edited: the shell "%s" is not bash, zsh or fish\n' "$shell" >&2
    printf '  To have penv in every shell, put this on its PATH: %s\n' "$bin" >&2
  fi
}

read_options "$@"
check_programs
find_place
find_rc_files
check_place
if needs_build; then build; fi
stage='' frame='' scratch=$(mktemp -d)
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
remove_unplaced_frames "$lib"
write_manifest
set --
for part in dist contract samples skills install package.json LICENSE README.md; do
  if [ -e "$source/$part" ]; then set -- "$@" "$part"; fi
done
place_version "$@"
place_links "$@"
place_launcher git-penv
place_launcher penv
while IFS= read -r rc; do
  if [ -n "$rc" ]; then place_block "$rc"; fi
done <<LIST
$rc_list
LIST
remove_leftovers "$lib" "$bin"
print_next_step
