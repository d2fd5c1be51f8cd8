// Which dimension of a model's output holds its features.
#pragma once

#include "ir/nn/NN.h"

#include <optional>

namespace syncline::frontend {

/// The dimension of `output` that a layer made: the last of a linear layer's result, the second of
/// a convolution's, followed through what keeps or moves dimensions. A linear layer over positions,
/// as those of [batch, features, time], leaves the features where they are. Nothing where no layer
/// made a dimension, or where operands disagree. Takes time linear in the step's operations.
std::optional<std::int64_t> featureAxis(mlir::Value output);

} // namespace syncline::frontend
