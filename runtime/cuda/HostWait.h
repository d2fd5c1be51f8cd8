// How the host waits for a device: asking, so that it also notices when what it waits for never
// comes.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <map>

namespace syncline::cuda {

/// What is asked while the host waits: ok, or the error that ends the wait, peerLost of messages
/// that stand still. Called every millisecond or so by the waiting thread; it may be the first to
/// act on the error, so that the device comes to an end (ncclCommAbort).
using DeviceWatch = std::function<Status()>;

/// One thread uses it at a time.
class HostWait {
public:
  /// Asks `watch` during waits until it is removed by the number returned.
  int add(DeviceWatch watch);
  void remove(int number) { watches.erase(number); }

  /// Returns when `isDone`, which throws Failure where the device has broken. Otherwise the first
  /// watch's error. Spins at first, then sleeps a fiftieth of what it has waited, 200 us at most:
  /// what a sleep oversleeps stays small beside the wait.
  Status until(const std::function<bool()> &isDone) const;

private:
  Status ask() const;

  std::map<int, DeviceWatch> watches;
  int next = 0;
};

} // namespace syncline::cuda
