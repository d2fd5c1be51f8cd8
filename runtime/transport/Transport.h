// Messages between the ranks of one run; what a network library has to offer to the collectives.
#pragma once

#include "runtime/transport/Deadline.h"
#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace syncline {

/// A registered piece of memory that messages are sent from and received into.
///
/// Several operations may be under way at once. Operations between two ranks with one tag are
/// matched in the order of their posting; the lengths must agree. Waits count operations: the n-th
/// waitReceived returns when n receives have completed. Used by one thread at a time.
class TransportBuffer {
public:
  virtual ~TransportBuffer() = default;

  /// Return at once; the range must stay as it is (send) or untouched (receive) until waited for.
  virtual Status send(int peer, std::uint64_t tag, std::size_t offset, std::size_t bytes) = 0;
  virtual Status receive(int peer, std::uint64_t tag, std::size_t offset, std::size_t bytes) = 0;

  /// `peer` is who the operation is with. Errors: peerLost, naming the rank whose fault it is,
  /// which need not be the peer.
  virtual Status waitSent(int peer, Deadline deadline) = 0;
  virtual Status waitReceived(int peer, Deadline deadline) = 0;
};

/// The connected ranks. Once an operation has failed, all fail.
class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Registers memory, which must outlive the buffer. Thread-safe.
  virtual std::unique_ptr<TransportBuffer> buffer(void *data, std::size_t bytes) = 0;
};

} // namespace syncline
