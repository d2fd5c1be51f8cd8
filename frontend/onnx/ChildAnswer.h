// A computation in a process of its own.
#pragma once

#include "syncline/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace syncline::frontend {

/// Runs `compute` in a forked child and returns its result. Foreign code that trusts a file's
/// content may crash or hang there, which is badInput here. `compute` must not start threads, take
/// locks that other threads may hold, or write anything. About 1 ms, more for large processes.
Result<std::string> answerOfChild(llvm::function_ref<std::string()> compute);

} // namespace syncline::frontend
