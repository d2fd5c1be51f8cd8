// Error messages for plans that do not fit into a device's memory.
#pragma once

#include "runtime/core/StepTypes.h"

#include <span>
#include <string>

namespace syncline::cuda {

/// The size as text with three significant digits: "1.50 GiB", "64 B".
std::string bytesText(std::int64_t bytes);

std::int64_t totalBytes(const core::SpaceSizes &sizes);

/// The message "not enough memory on device 0 (NVIDIA H100): the plan needs 90.0 GiB (arena 70.0
/// GiB, ...) and libraries 1.00 GiB, 79.1 GiB are free; the largest tensors: 'conv1' (arena, 3.00
/// GiB), ...; a smaller batch needs less". It lists spaces and scratch memory, largest first, and
/// five tensors. `headroom` is left to libraries.
std::string shortageText(const core::SpaceSizes &sizes, std::int64_t scratch, std::int64_t headroom,
                         std::int64_t free, const std::string &device,
                         std::span<const core::StepTensor> tensors);

} // namespace syncline::cuda
