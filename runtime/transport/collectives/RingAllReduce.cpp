// All-reduce by a ring: the least traffic, but the latencies of all ranks add up.
#include "runtime/core/Channel.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::transport {
namespace {

/// Takes 2(P-1) steps; a rank sends and receives 2(P-1)/P·N.
class RingAllReduce : public AllReduce {
public:
  explicit RingAllReduce(std::unique_ptr<Ring> ring)
      : AllReduce(ring->size()), ring(std::move(ring)) {}

private:
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return ring->allReduce(data, bytes, type);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override {
    return half == core::Half::first ? ring->reduceScatter(data, bytes, type)
                                     : ring->allGather(data, bytes, type);
  }

  const std::unique_ptr<Ring> ring;
};

} // namespace

Result<std::unique_ptr<AllReduce>> createRing(Transport &transport, const std::string &name,
                                              const RankLayout &) {
  SYNCLINE_TRY_GET(ring, Ring::create(transport, name));
  return std::unique_ptr<AllReduce>(new RingAllReduce(std::move(*ring)));
}

} // namespace syncline::transport
