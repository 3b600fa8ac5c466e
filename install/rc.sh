# shellcheck shell=sh disable=SC2016,SC2034
# The marked block in a shell's rc file: where it goes, how it reads, how it is put in and taken out. Sourced by
# install.sh and uninstall.sh. Everything around the block stays byte for byte; a file is replaced whole or not at
# all. What has to be undone later is noted in the block itself, so that it survives a lost manifest.

rc_begin='# >>> penv >>>'
rc_end='# <<< penv <<<'
rc_note_made='# This file was made for this block.'
rc_note_joined='# The line above had no line end.'

# rc_files SHELL HOME: its rc files, one per line.
rc_files() {
  case $1 in
    zsh) case ${ZDOTDIR:-} in /*) printf '%s\n' "$ZDOTDIR/.zshrc" ;; *) printf '%s\n' "$2/.zshrc" ;; esac ;;
    fish)
      case ${XDG_CONFIG_HOME:-} in
        /*) printf '%s\n' "$XDG_CONFIG_HOME/fish/conf.d/penv.fish" ;;
        *) printf '%s\n' "$2/.config/fish/conf.d/penv.fish" ;;
      esac
      ;;
    bash)
      printf '%s\n' "$2/.bashrc"
      # A login shell, which is what macOS opens, reads the first of these, and .bashrc only if told to there.
      for rc_login in "$2/.bash_profile" "$2/.bash_login" "$2/.profile"; do
        if [ -e "$rc_login" ] || [ -L "$rc_login" ]; then break; fi
      done
      if [ ! -f "$rc_login" ] || ! grep -v '^[[:space:]]*#' "$rc_login" | grep bashrc >/dev/null; then
        printf '%s\n' "$rc_login"
      fi
      ;;
  esac
}

# rc_target FILE: the file behind its symlinks; fails on a loop. (macOS before 12.3 has no readlink -f.)
rc_target() {
  rc_real=$1 rc_hops=0
  while [ -L "$rc_real" ]; do
    rc_hops=$((rc_hops + 1))
    [ "$rc_hops" -le 40 ] || return 1
    rc_link=$(readlink "$rc_real") || return 1
    case $rc_link in /*) rc_real=$rc_link ;; *) rc_real=$(dirname "$rc_real")/$rc_link ;; esac
  done
  printf '%s\n' "$rc_real"
}

# rc_problem FILE: why it cannot be edited, or nothing.
rc_problem() {
  if ! rc_behind=$(rc_target "$1"); then
    printf 'its symlinks go round in a circle\n'
  elif [ -e "$rc_behind" ] && [ ! -f "$rc_behind" ]; then
    printf 'it is not a file\n'
  elif [ -f "$rc_behind" ] && { [ ! -r "$rc_behind" ] || [ ! -w "$rc_behind" ]; }; then
    printf 'it is not writable\n'
  elif [ -d "$(dirname "$rc_behind")" ] && [ ! -w "$(dirname "$rc_behind")" ]; then
    printf 'its directory is not writable\n'
  elif [ -f "$rc_behind" ]; then
    case $(rc_find "$rc_behind" '') in *' 0') printf 'its block "%s" has no end\n' "$rc_begin" ;; esac
  fi
}

# rc_word SHELL PATH [HOME]: PATH as a word of that shell. Below HOME it is written so that it moves with HOME.
rc_word() {
  case ${3:-} in
    '' | /) ;;
    *) case ${2#"$3"/} in
      "$2" | *[!A-Za-z0-9._/-]*) ;;
      *) printf '"$HOME/%s"\n' "${2#"$3"/}" && return ;;
    esac ;;
  esac
  case $1 in
    fish) printf '%s\n' "$2" | sed -e "s/[\\\\']/\\\\&/g" -e "s/.*/'&'/" ;;
    *) printf '%s\n' "$2" | sed -e "s/'/'\\\\''/g" -e "s/.*/'&'/" ;;
  esac
}

# rc_owner LIB: the line that says whose block it is. LIB is <prefix>/lib/penv as shown to people.
rc_owner() { printf '# Made by install.sh for %s; uninstall.sh there removes it.\n' "$1"; }

# rc_block SHELL WORD LIB NOTE: the block.
rc_block() {
  printf '%s\n' "$rc_begin"
  rc_owner "$3"
  [ -z "$4" ] || printf '%s\n' "$4"
  case $1 in
    fish) printf 'contains -- %s $PATH; or set -gx PATH %s $PATH\n' "$2" "$2" ;;
    *) printf 'case ":$PATH:" in\n  *:%s:*) ;;\n  *) export PATH=%s"${PATH:+:$PATH}" ;;\nesac\n' "$2" "$2" ;;
  esac
  printf '%s\n' "$rc_end"
}

# rc_find FILE OWNER: "first last" line of the first block (of that owner, where one is given); "first 0": no end.
rc_find() {
  RC_BEGIN=$rc_begin RC_END=$rc_end RC_OWNER=$2 awk '
    { sub(/\r$/, "") }
    $0 == ENVIRON["RC_BEGIN"] { if (first) exit; first = NR; mine = ENVIRON["RC_OWNER"] == "" }
    first && $0 == ENVIRON["RC_OWNER"] { mine = 1 }
    first && $0 == ENVIRON["RC_END"] { if (mine) { last = NR; exit } first = 0 }
    END { if (first) print first, last + 0 }' "$1"
}

rc_head() { [ "$1" -le 0 ] || head -n "$1" "$2"; }

# rc_strip FILE OWNER SCRATCH: FILE without its blocks (of that owner) as SCRATCH/rest. Sets rc_at to the line of
# the first, empty where there was none, and rc_note to its note.
rc_strip() {
  rc_at='' rc_note=''
  cat "$1" >"$3/rest" || return 1
  while :; do
    rc_lines=$(rc_find "$3/rest" "$2") || return 1
    [ -n "$rc_lines" ] || return 0
    rc_first=${rc_lines% *} rc_last=${rc_lines#* }
    [ "$rc_last" -gt 0 ] || return 1
    if [ -z "$rc_at" ]; then
      rc_at=$rc_first
      rc_note=$(sed -n "$rc_first,${rc_last}p" "$3/rest" | tr -d '\r' |
        grep -Fx -e "$rc_note_made" -e "$rc_note_joined") || rc_note=''
    fi
    { rc_head "$((rc_first - 1))" "$3/rest" && tail -n "+$((rc_last + 1))" "$3/rest"; } >"$3/less" || return 1
    mv -f "$3/less" "$3/rest" || return 1
  done
}

# rc_write FILE CONTENT: FILE gets the bytes of the file CONTENT. Mode and owner stay, symlinks are followed.
rc_write() {
  rc_behind=$(rc_target "$1") || return 1
  rc_new=$rc_behind.penv.$$
  rm -f "$rc_new" || return 1
  if { [ ! -e "$rc_behind" ] || cp -p "$rc_behind" "$rc_new"; } &&
    cat "$2" >"$rc_new" && mv -f "$rc_new" "$rc_behind"; then return 0; fi
  rm -f "$rc_new"
  return 1
}

# rc_sweep FILE: what an edit that was killed left beside it.
rc_sweep() {
  rc_behind=$(rc_target "$1") || return 1
  for rc_left in "$rc_behind".penv.*; do
    if [ -f "$rc_left" ] && is_left_behind "$rc_left"; then rm -f "$rc_left"; fi
  done
}

# rc_put FILE SHELL WORD LIB SCRATCH: leaves exactly one block, ours, where a block was or at the end.
# Sets rc_outcome to added, replaced or already.
rc_put() {
  rc_sweep "$1" || return 1
  if [ -e "$1" ]; then
    rc_strip "$1" '' "$5" || return 1
  else
    : >"$5/rest" && rc_at='' rc_note=$rc_note_made
  fi
  rc_outcome=replaced rc_break=''
  if [ -z "$rc_at" ]; then
    rc_outcome=added rc_at=$(($(wc -l <"$5/rest") + 1))
    if [ -n "$(tail -c 1 "$5/rest")" ]; then
      rc_note=$rc_note_joined rc_at=$((rc_at + 1)) rc_break='
'
    fi
  fi
  rc_text=$(rc_block "$2" "$3" "$4" "$rc_note")
  {
    rc_head "$((rc_at - 1))" "$5/rest" && printf '%s%s\n' "$rc_break" "$rc_text" && tail -n "+$rc_at" "$5/rest"
  } >"$5/new" || return 1
  if [ -e "$1" ] && cmp -s "$1" "$5/new"; then
    rc_outcome=already
  else
    rc_write "$1" "$5/new"
  fi
}

# rc_take FILE LIB SCRATCH: takes out every block of LIB. Sets rc_outcome to removed, deleted (the file was made
# for the block and holds nothing else) or already.
rc_take() {
  rc_outcome=already
  rc_sweep "$1" || return 1
  [ -f "$1" ] || return 0
  rc_strip "$1" "$(rc_owner "$2")" "$3" || return 1
  [ -n "$rc_at" ] || return 0
  rc_size=$(($(wc -c <"$3/rest")))
  if [ "$rc_note" = "$rc_note_made" ] && [ "$rc_size" -eq 0 ]; then
    rc_outcome=deleted
    rm -f "$(rc_target "$1")"
    return
  fi
  # The line end that was added goes too, unless something was written below the block since.
  tail -n "+$rc_at" "$3/rest" >"$3/below" || return 1
  if [ "$rc_note" = "$rc_note_joined" ] && [ ! -s "$3/below" ]; then
    { head -c "$((rc_size - 1))" "$3/rest" >"$3/less" && mv -f "$3/less" "$3/rest"; } || return 1
  fi
  rc_outcome=removed
  rc_write "$1" "$3/rest"
}
