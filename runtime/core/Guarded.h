// Turns exceptions into Status. Every thread but the first needs this, because an exception that
// leaves a thread's function ends the process.
#pragma once

#include "syncline/Status.h"

#include <exception>
#include <new>
#include <utility>

namespace syncline::core {

/// Calls `f` and returns its Status. Errors: badInput where `f` throws std::bad_alloc, internal
/// where it throws anything else.
template <typename F> Status guarded(F &&f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc &) {
    return Status::badInput("out of memory");
  } catch (const std::exception &e) {
    return Status::error(ErrorKind::internal, std::string("unexpected: ") + e.what());
  }
}

} // namespace syncline::core
