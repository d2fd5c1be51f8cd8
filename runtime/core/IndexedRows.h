// Which entries of a dimension the indices of gatherRows and scatterRows name.
#pragma once

#include "runtime/core/Embedding.h"
#include "runtime/core/Operands.h"
#include "syncline/ScatterKind.h"

#include <algorithm>
#include <cstdint>

namespace syncline::core {

/// The whole tensor is [shared, free, rows, width], the indices are [shared, count], and the
/// entries they name [shared, free, count, width].
struct IndexedRows {
  std::int64_t shared = 1, free = 1, rows = 1, width = 1, count = 1;

  SYNCLINE_HOST_DEVICE std::int64_t entries() const { return shared * free * count * width; }
  SYNCLINE_HOST_DEVICE std::int64_t elements() const { return shared * free * rows * width; }
};

inline IndexedRows indexedRows(const Operands &o, Tensor whole, Tensor indices, std::int64_t axis,
                               std::int64_t shared) {
  const Shape &from = o.shape(whole), &numbers = o.shape(indices);
  const auto product = [](auto begin, auto end) { return elementCount(Shape(begin, end)); };
  IndexedRows of;
  of.shared = product(from.begin(), from.begin() + shared);
  of.free = product(from.begin() + shared, from.begin() + axis);
  of.rows = from[static_cast<std::size_t>(axis)];
  of.width = product(from.begin() + axis + 1, from.end());
  of.count = product(numbers.begin() + shared, numbers.end());
  return of;
}

/// The entry that an index names, or -1 where there is none.
SYNCLINE_HOST_DEVICE inline std::int64_t namedRow(std::int64_t index, std::int64_t rows) {
  return embeddingRow(index, rows);
}
SYNCLINE_HOST_DEVICE inline std::int64_t namedRow(float index, std::int64_t rows) {
  const auto size = static_cast<float>(rows);
  const bool isWithin = index >= -size && index < size; // false for NaN
  return isWithin ? embeddingRow(static_cast<std::int64_t>(index), rows) : -1;
}

/// What stands at a place after an update.
SYNCLINE_HOST_DEVICE inline double scattered(ScatterKind kind, double before, double update) {
  switch (kind) {
  case ScatterKind::add:
    return before + update;
  case ScatterKind::replace:
    return update;
  case ScatterKind::multiply:
    return before * update;
  case ScatterKind::maximum:
    return before != before || before >= update ? before : update;
  case ScatterKind::minimum:
    return before != before || before <= update ? before : update;
  }
  return update;
}

} // namespace syncline::core
