// A stretch of a message.
#pragma once

#include <cstddef>

namespace syncline::core {

/// Bytes of a message: begin and end; may be empty.
struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

} // namespace syncline::core
