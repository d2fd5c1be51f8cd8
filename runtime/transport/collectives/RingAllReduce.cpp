// All-reduce by a ring.
#include "runtime/transport/collectives/RingAllReduce.h"

namespace syncline::transport {

Result<std::unique_ptr<AllReduce>> RingAllReduce::create(Transport &transport,
                                                         const std::string &name) {
  auto ring = Ring::create(transport, name);
  if (!ring)
    return ring.status();
  return std::unique_ptr<AllReduce>(new RingAllReduce(transport.size(), std::move(*ring)));
}

} // namespace syncline::transport
