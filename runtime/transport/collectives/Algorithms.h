// The all-reduce algorithms. Each algorithm's .cpp says how it works and what it costs.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"

namespace syncline::transport {

/// Opens the links of an algorithm. All ranks call it together; `name` distinguishes several
/// all-reduces. Errors: peerLost; badInput for a layout that the algorithm cannot use.
using CreateAllReduce = Result<std::unique_ptr<AllReduce>>(Transport &transport,
                                                           const std::string &name,
                                                           const RankLayout &layout);

CreateAllReduce createRing, createRecursiveDoubling, createHalvingDoubling, createTrees,
    createHierarchical, createColocatedServers;

} // namespace syncline::transport
