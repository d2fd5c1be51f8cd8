// Exceptions of the standard library as Status. Every thread but the first needs it: what leaves a
// thread's function ends the process.
#pragma once

#include "syncline/Status.h"

#include <exception>
#include <new>
#include <utility>

namespace syncline {

/// What `f`, which gives a Status, says or throws. Errors: badInput for memory that is not there,
/// internal for all else that is thrown.
template <typename F> Status guarded(F &&f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc &) {
    return Status::badInput("out of memory");
  } catch (const std::exception &e) {
    return Status::error(ErrorKind::internal, std::string("unexpected: ") + e.what());
  }
}

} // namespace syncline
