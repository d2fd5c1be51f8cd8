// All-reduce by a ring: the least traffic, but the latencies of all ranks add up.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::transport {

/// Takes 2(P-1) steps; a rank sends and receives 2(P-1)/P·N.
class RingAllReduce : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  RingAllReduce(int ranks, std::unique_ptr<Ring> ring) : AllReduce(ranks), ring(std::move(ring)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return ring->allReduce(data, bytes, type);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override {
    return half == core::Half::first ? ring->reduceScatter(data, bytes, type)
                                     : ring->allGather(data, bytes, type);
  }

  std::unique_ptr<Ring> ring;
};

} // namespace syncline::transport
