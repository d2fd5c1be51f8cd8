// Which of a machine's accelerators a rank computes on.
#pragma once

#include "syncline/Status.h"

#include <optional>
#include <string>

namespace syncline {

struct DeviceWish {
  std::optional<int> device; ///< `--device`
  bool shares = false;       ///< `--share-device`: ranks beyond the devices begin from the first
  int machineRank = 0;       ///< of this machine's ranks
};

/// A device each for the ranks of a machine that shows `count`, unless they wish otherwise. 0 where
/// there are none: the backend says what is missing. badInput where there are too few.
Result<int> chooseDevice(const DeviceWish &wish, int count, const std::string &backend);

} // namespace syncline
