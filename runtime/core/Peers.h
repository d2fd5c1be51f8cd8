// The other ranks of a run, as a backend's channels see them: small exchanges and failure reports
// beside the channels' own messages.
#pragma once

#include "syncline/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::core {

class Peers {
public:
  virtual ~Peers() = default;

  /// This rank among the workers; servers are not counted.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Seconds that a rank may wait for another rank without any progress.
  virtual double timeoutSeconds() const = 0;

  /// Returns every rank's value, by rank. All ranks call it with the same key, which is used
  /// only once. For rare use, from one thread. Errors: peerLost, naming the ranks that did not
  /// call in time.
  virtual Result<std::vector<std::string>> exchange(const std::string &key,
                                                    const std::string &value) = 0;

  /// Ok, or peerLost that names the rank known to be lost. May be called at any time from any
  /// thread; sends no message.
  virtual Status verdict() const = 0;
  /// Ranks that are lost, but without which the run goes on. Any thread may call it at any time.
  virtual std::vector<int> lost() const { return {}; }
  /// While the result lives, other ranks can learn that this rank waits for `peer`. They use it to
  /// find the rank at the end of a chain of waiting ranks. May be called from any thread.
  virtual std::shared_ptr<void> waitingFor(int peer) = 0;
  /// Called when `peer` has been late for the whole time limit. Returns peerLost that names the
  /// rank at fault, which need not be `peer`. Takes a few seconds at most.
  virtual Status blame(int peer, const std::string &message) = 0;
};

} // namespace syncline::core
