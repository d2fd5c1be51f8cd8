#!/bin/sh
# Plays the C++ compiler for tests of plans that are not run: the step is an empty file.
while [ "$1" != -o ]; do shift; done
: >"$2"
