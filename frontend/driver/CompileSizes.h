// `syncline compile --dim NAME=N,N,..`: a plan for each size, in one folder.
#pragma once

#include "frontend/driver/Compile.h"

namespace syncline::driver {

/// As compile(), for a dimension of several sizes: all plans have the same buckets
/// (candidates::chooseCommon), so that their steps can train the same parameters. Precondition:
/// the options name such a dimension, and nothing that excludes it.
Status compileSizes(const CompileOptions &options);

} // namespace syncline::driver
