// Parameters and states: initial values, and the trained model as ONNX.
#pragma once

#include "runtime/core/TensorStore.h"
#include "runtime/run/Plan.h"

#include <cstddef>
#include <vector>

namespace syncline {

/// Dense values that a tensor begins with: from weights.bin, or drawn from the seed and the
/// tensor's name, so that all ranks have the same.
Result<std::vector<std::byte>> initialValues(const Plan &plan, const PlanTensor &tensor,
                                             std::uint64_t seed);

/// Gives every parameter and state of the executable its initial value. The plan has passed
/// checkStep().
Status initialize(const Plan &plan, TensorStore &store, std::uint64_t seed);

/// Writes the model with its present values to `path`: under another name first, then renamed.
/// Errors: badInput, naming the first value that is not finite, unless such are allowed.
Status saveOnnx(const Plan &plan, TensorStore &store, std::uint64_t seed, const std::string &path,
                bool allowsNonFinite);

} // namespace syncline
