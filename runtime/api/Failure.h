// What a call of the C interface returns, before it is put into the caller's struct.
#pragma once

#include "runtime/core/Guarded.h"
#include "syncline.h"
#include "syncline/Status.h"

#include <cstdint>
#include <string>

namespace syncline::api {

/// SYNCLINE_OK, or why a call failed. The fields are those of syncline_error.
struct [[nodiscard]] Failure {
  syncline_code code = SYNCLINE_OK;
  std::string text = {};
  int rank = -1, message = -1;
  std::int64_t step = -1;

  bool isOk() const { return code == SYNCLINE_OK; }
  static Failure badUsage(std::string text) { return {SYNCLINE_BAD_USAGE, std::move(text)}; }
  /// The failure of a Status; `rank` counts where a peer was lost.
  static Failure of(const Status &status, int rank = -1);
  /// Fills the caller's struct, which may be null. Returns the code.
  int tell(syncline_error *error) const;
};

/// Calls `f`, which returns a Failure, and tells the caller. No exception leaves it.
template <typename F> int answer(syncline_error *error, F &&f) {
  Failure failure;
  const Status thrown = core::guarded([&] {
    failure = f();
    return Status::ok();
  });
  return (thrown ? failure : Failure::of(thrown)).tell(error);
}

/// The fields of a struct that grows: copies as many bytes as the caller's `size` says.
template <typename Struct> Failure copyTo(Struct *to, const Struct &from, const char *what) {
  if (!to)
    return Failure::badUsage(std::string("expected a place for the ") + what + ", got NULL");
  if (to->size < sizeof to->size)
    return Failure::badUsage(std::string(what) + ": expected its size in 'size'");
  const std::uint32_t size = to->size;
  const auto bytes = size < sizeof from ? size : sizeof from;
  __builtin_memcpy(static_cast<void *>(to), &from, bytes);
  to->size = size;
  return {};
}

} // namespace syncline::api
