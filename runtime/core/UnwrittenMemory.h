// Memory that a step writes before it reads. For a check it is filled with NaN before each step,
// which shows in the results where an operation reads what this step has not written.
#pragma once

#include "runtime/core/StepTable.h"

#include <vector>

namespace syncline::core {

/// Whether backends fill that memory: SYNCLINE_FILL_NAN is set, and not to 0.
bool fillsUnwritten();

struct SpaceRange {
  Space space;
  std::int64_t offset, bytes;
};

/// The tensors of the arena and the gradients, in order, without those that a message of the step
/// before may still use. Padding of gradients is left out: it is never written, and stays zero.
std::vector<SpaceRange> unwrittenRanges(const StepTable &table);

/// A byte of which f32, bf16 and f16 are NaN.
inline constexpr int nanByte = 0xFF;

} // namespace syncline::core
