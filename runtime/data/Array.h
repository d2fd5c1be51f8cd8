// A dense array read from a file.
#pragma once

#include "syncline/Status.h"
#include "syncline/Step.h"

#include <cstddef>
#include <memory>
#include <string>

namespace syncline::data {

/// Values in host memory or in a mapped file, row-major.
struct Array {
  std::string path; ///< the file's name for messages
  ElementType type = ElementType::f32;
  Shape shape;
  const std::byte *data = nullptr;
  std::shared_ptr<const void> owner;

  std::int64_t count() const;
  /// Element i as a double; exact except for integers beyond 2^53.
  double at(std::int64_t i) const;
};

/// The shape as text: "[8, 1, 8]".
std::string describe(const Shape &shape);

} // namespace syncline::data
