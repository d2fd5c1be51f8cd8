#!/bin/sh
# The C++ compiler of tests' plans, also behind host-cuda/nvcc: compiles a generated step by `c++`, or copies what the
# same words have made of the same text before. $STEPS is a folder for that, $STEPS_KEY what else a result depends on:
# compiler and headers. The headers that every step of a CPU begins with are compiled once for the same words.
object='' source='' before=''
for word; do
  [ "$before" != -o ] || object=$word
  case $word in *.cpp | *.cu) source=$word ;; esac
  before=$word
done

words() { for word; do [ "$word" = "$object" ] || [ "$word" = "$source" ] || [ "$word" = -o ] || echo "$word"; done; }
short() { sha256sum | cut -c 1-32; }

# The first line of a step is a comment that names its plan.
key=$({ echo "$STEPS_KEY"; words "$@"; tail -n +2 "$source"; } | short) || exit
kept=$STEPS/$key.so
if [ -e "$kept" ] && cp "$kept" "$object" 2>/dev/null; then
  touch -c "$kept"
  exit 0
fi

headers=''
case $source in
  *.cpp)
    includes=$(grep '^#include' "$source") || exit
    headers=$STEPS/$({ echo "$STEPS_KEY$includes"; words "$@"; } | short).h
    if [ ! -e "$headers.gch" ]; then
      echo "$includes" >"$headers.$$.h"
      # Words of a path with blanks fall apart here; then the step is compiled without.
      c++ $(words "$@" | grep -v -e '^-shared$' -e '^-Wl,') -x c++-header "$headers.$$.h" -o "$headers.$$.gch" 2>/dev/null &&
        mv "$headers.$$.h" "$headers" && mv "$headers.$$.gch" "$headers.gch" || headers=''
    fi
    ;;
esac
c++ ${headers:+-include "$headers"} "$@" || exit
cp "$object" "$kept.$$" 2>/dev/null && mv "$kept.$$" "$kept"
exit 0
