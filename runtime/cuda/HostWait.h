// How the host waits for a device: by polling, so that it also notices when the awaited work can
// never finish.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <map>

namespace syncline::cuda {

/// Called about every millisecond by a waiting thread. Returns ok, or the error that ends the wait,
/// such as peerLost for messages without progress. It may abort the messages (ncclCommAbort), so
/// that the device can finish.
using DeviceWatch = std::function<Status()>;

/// One thread at a time uses it.
class HostWait {
public:
  /// Adds a watch, which is called during waits until it is removed by the returned number.
  int add(DeviceWatch watch);
  void remove(int number) { watches.erase(number); }

  /// Waits until `isDone` returns true. Errors: a Failure thrown by `isDone`, or the first watch's
  /// error. Spins at first, then sleeps for a fiftieth of the time waited so far, 200 us at most,
  /// so that oversleeping stays small compared with the wait.
  Status until(const std::function<bool()> &isDone) const;

private:
  Status ask() const;

  std::map<int, DeviceWatch> watches;
  int next = 0;
};

} // namespace syncline::cuda
