// The other ranks of a run, for channels that a backend brings along: the meeting point beside the
// messages themselves.
#pragma once

#include "syncline/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline {

class Peers {
public:
  virtual ~Peers() = default;

  /// Ranks that compute; servers are not counted.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Seconds that a rank may wait for another while nothing moves.
  virtual double timeoutSeconds() const = 0;

  /// Everybody's value, by rank: all call it with the same key, which is used once. For rare use,
  /// from one thread. Errors: peerLost, naming the ranks that did not come.
  virtual Result<std::vector<std::string>> exchange(const std::string &key,
                                                    const std::string &value) = 0;

  /// Ok, or peerLost that names who is known to be lost. At any time, from any thread; asks nobody.
  virtual Status verdict() const = 0;
  /// While the result lives, others can learn that this rank waits for `peer`, and so find at whom
  /// a chain of waiting ranks ends. From any thread.
  virtual std::shared_ptr<void> waitingFor(int peer) = 0;
  /// `peer` has been late for the whole time limit: peerLost that names the rank whose fault it is,
  /// which need not be `peer`. A few seconds at most.
  virtual Status blame(int peer, const std::string &message) = 0;
};

} // namespace syncline
