// All-reduce by a ring.
#include "runtime/transport/collectives/RingAllReduce.h"

namespace syncline::transport {

Result<std::unique_ptr<AllReduce>> RingAllReduce::create(Transport &transport,
                                                         const std::string &name) {
  SYNCLINE_TRY_GET(ring, Ring::create(transport, name));
  return std::unique_ptr<AllReduce>(new RingAllReduce(transport.size(), std::move(*ring)));
}

} // namespace syncline::transport
