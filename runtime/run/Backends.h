// Opening a backend by its name, and which of a machine's devices a rank computes on.
#pragma once

#include "runtime/core/Backend.h"

#include <optional>
#include <string>

namespace syncline::run {

/// Returns the backend of this name. "cpu" is part of the program; any other backend is a module,
/// which is loaded and stays loaded. Errors (badInput): the module is missing, or this machine
/// lacks what the backend needs.
Result<const core::Backend *> openBackend(const std::string &name);

struct DeviceWish {
  std::optional<int> device; ///< `--device`
  bool shares = false; ///< `--share-device`: ranks beyond the devices start again at the first
  int machineRank = 0; ///< this rank's number among the machine's ranks
};

/// Returns the device of a rank on a machine with `count` devices: `--device`, or one device for
/// each rank. Returns 0 on a machine without devices; the backend then reports what is missing.
/// Errors: badInput where there are fewer devices than ranks.
Result<int> chooseDevice(const DeviceWish &wish, int count, const std::string &backend);

} // namespace syncline::run
