// Writing the loss, gradients and parameters of chosen steps as .npy files.
#pragma once

#include "runtime/core/TensorStore.h"

#include <string>

namespace syncline::run {

/// Creates DIR/stepN/{loss.npy, gradients/NAME.npy, parameters/NAME.npy, state/NAME.npy}.
///
/// Gradients are those of the mean loss over the global batch: sums over ranks, divided by
/// `divisor`, the number of ranks times the loss's scale. Parameters and states are those after the
/// step's update. In NAME, characters that do not belong in a file name ('/', '%', a leading '.')
/// are written as %XX. A name longer than 200 bytes is shortened to its first 180 bytes, '~', and
/// 16 digits of the SHA-256 of the whole name.
Status dumpStep(const std::string &folder, std::int64_t step, double loss, core::TensorStore &store,
                double divisor);

/// The tensor's name as a file name.
std::string escapeName(std::string_view name);

} // namespace syncline::run
