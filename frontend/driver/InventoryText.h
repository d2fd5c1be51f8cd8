// What is planned of a model's tensors, in a line.
#pragma once

#include "frontend/onnx/Inventory.h"

namespace syncline::driver {

/// "161 parameters, 97.5 MiB; not planned: 'a', 'b', 'c' and 103 more (frozen, 207 KiB)".
std::string inventoryText(const frontend::Inventory &inventory);

} // namespace syncline::driver
