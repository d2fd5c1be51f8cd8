// Which row of a table a number names.
#pragma once

#include "runtime/core/HostDevice.h"

#include <cstdint>

namespace syncline::core {

/// The row, or -1 where the table has none. Negative numbers count from the table's end.
SYNCLINE_HOST_DEVICE inline std::int64_t embeddingRow(std::int64_t id, std::int64_t rows) {
  const std::int64_t row = id < 0 ? id + rows : id;
  return row < 0 || row >= rows ? -1 : row;
}

} // namespace syncline::core
