// Assigning devices to local ranks.
#include "runtime/run/DeviceChoice.h"

namespace syncline::run {

Result<int> chooseDevice(const DeviceWish &wish, int count, const std::string &backend) {
  if (count == 0)
    return 0;
  const int own = wish.shares ? wish.machineRank % count : wish.machineRank;
  const int wanted = wish.device.value_or(own);
  if (wanted >= 0 && wanted < count)
    return wanted;
  const std::string has =
      "this machine shows " + std::to_string(count) + " of backend '" + backend + "'";
  if (wish.device)
    return Status::badInput("no device " + std::to_string(wanted) + ": " + has);
  return Status::badInput("local rank " + std::to_string(wish.machineRank) +
                          " has no device of its own: " + has +
                          "; '--share-device' lets ranks share them");
}

} // namespace syncline::run
