#!/bin/sh
# The C++ compiler of tests' plans, also behind host-cuda/nvcc: compiles a generated step by `c++`, or copies what the
# same words have made of the same text before. $STEPS is a folder for that, $STEPS_KEY what else a result depends on:
# compiler and headers.
object='' source='' before=''
for word; do
  [ "$before" != -o ] || object=$word
  case $word in *.cpp | *.cu) source=$word ;; esac
  before=$word
done

# The first line of a step is a comment that names its plan.
key=$({
  echo "$STEPS_KEY"
  for word; do [ "$word" = "$object" ] || [ "$word" = "$source" ] || echo "$word"; done
  tail -n +2 "$source"
} | sha256sum | cut -c 1-32) || exit
kept=$STEPS/$key.so

if [ -e "$kept" ] && cp "$kept" "$object" 2>/dev/null; then
  touch -c "$kept"
  exit 0
fi
c++ "$@" || exit
cp "$object" "$kept.$$" 2>/dev/null && mv "$kept.$$" "$kept"
exit 0
