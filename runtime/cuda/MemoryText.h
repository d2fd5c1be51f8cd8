// What to say where a plan does not fit a device.
#pragma once

#include "runtime/core/StepTypes.h"

#include <span>
#include <string>

namespace syncline::cuda {

/// "1.50 GiB", "64 B": three digits at most before the unit.
std::string bytesText(std::int64_t bytes);

std::int64_t totalBytes(const SpaceSizes &sizes);

/// "not enough memory on device 0 (NVIDIA H100): the plan needs 90.0 GiB (arena 70.0 GiB,
/// ...), 79.1 GiB are free; the largest tensors: 'conv1' (arena, 3.00 GiB), ...; a smaller batch
/// needs less": the largest spaces first, scratch among them, and five tensors.
std::string shortageText(const SpaceSizes &sizes, std::int64_t scratch, std::int64_t free,
                         const std::string &device, std::span<const StepTensor> tensors);

} // namespace syncline::cuda
