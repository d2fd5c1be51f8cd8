// Values of parameters and states: initialising them, and saving the trained model as ONNX.
#pragma once

#include "runtime/core/TensorStore.h"
#include "runtime/run/plan/Plan.h"

#include <cstddef>
#include <string>
#include <vector>

namespace syncline::run {

/// The dense initial values of a tensor: from weights.bin, or drawn from the seed and the tensor's
/// name, so that all ranks have the same values.
Result<std::vector<std::byte>> initialValues(const Plan &plan, const PlanTensor &tensor,
                                             std::uint64_t seed);

/// Writes the initial values of all parameters and states. The plan has passed checkStep().
Status initialize(const Plan &plan, core::TensorStore &store, std::uint64_t seed);

/// Writes all parameters and states with the values of an ONNX file. Errors: badInput, naming the
/// file and the first tensor that it has not, or not so.
Status loadOnnx(const Plan &plan, core::TensorStore &store, const std::string &path);

/// The plan's model.onnx, which lacks the values. Errors: badInput where it is no model.
Result<std::string> readSkeleton(const Plan &plan);

/// Writes the model with its present values to `path`, completely or not at all. Errors: badInput,
/// naming the first value that is not finite, unless `allowsNonFinite`.
Status saveOnnx(const Plan &plan, core::TensorStore &store, std::uint64_t seed,
                const std::string &path, bool allowsNonFinite);

} // namespace syncline::run
