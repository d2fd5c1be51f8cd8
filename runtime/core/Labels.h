// What the labels of a cross-entropy mean, for backends, evaluation and data.
#pragma once

#include "runtime/core/HostDevice.h"
#include "syncline/Step.h"

#include <cstdint>

namespace syncline::core {

/// A position with this label counts neither in the loss nor in its gradient, as in PyTorch.
inline constexpr std::int64_t ignoredLabel = -100;

/// The dimension of the logits that holds the classes: the last where the labels' shape says so,
/// otherwise the second. Precondition: `logits` has at least two dimensions.
inline std::int64_t classAxis(const Shape &logits, const Shape &labels) {
  Shape second = logits, last = logits;
  second.erase(second.begin() + 1);
  last.pop_back();
  return labels == last && labels != second ? static_cast<std::int64_t>(last.size()) : 1;
}

} // namespace syncline::core
