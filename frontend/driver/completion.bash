# Completion of `syncline` for bash: commands, and the options that each command's help lists. Installed
# where bash-completion looks; or: source frontend/driver/completion.bash

_syncline_commands() {
  "$1" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p'
}

_syncline_options() {
  "$1" "$2" --help 2>/dev/null | grep -oE '^  (-[A-Za-z],)?-[-a-zA-Z0-9]+' | tr ',' '\n' | tr -d ' '
}

_syncline() {
  local program=$1 word=$2 previous=$3 words
  if ((COMP_CWORD == 1)); then
    words="help --version $(_syncline_commands "$program")"
  elif [[ ${COMP_WORDS[1]} == help ]]; then
    words=$(_syncline_commands "$program")
  elif [[ $word == -* ]]; then
    words=$(_syncline_options "$program" "${COMP_WORDS[1]}")
  elif [[ $previous == --cluster ]]; then
    words=$("$program" cluster --list | sed '1d;s/ .*//')
  fi
  # What matches none of the words is a file: `-o default` below.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _syncline syncline
