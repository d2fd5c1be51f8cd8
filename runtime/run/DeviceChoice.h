// Which of a machine's accelerators a rank computes on.
#pragma once

#include "syncline/Status.h"

#include <optional>
#include <string>

namespace syncline::run {

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
