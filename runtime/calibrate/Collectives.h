// Every collective that the host carries, by name, on buffers of its own.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::calibrate {

/// One scheme of plans, ready to carry messages.
struct Collective {
  Scheme scheme = Scheme::ring;
  /// What a plan's message of so many bytes, a multiple of 4, does on its channel; of "factors"
  /// they are what one rank contributes. Of "reduce-scatter" without the optimizer between its
  /// halves. All ranks together, one thread at a time.
  std::function<Status(std::int64_t bytes)> run;
  std::int64_t largest; ///< bytes of the longest message
};

/// The schemes that these ranks can use: "hierarchical" only with several nodes of several ranks.
/// In the order in which plans' schemes are listed.
std::vector<Scheme> usableSchemes(int ranks, int ranksPerNode);

/// Opens the links of each scheme; all ranks together. No message is longer than largestMessage()
/// of `largest` bytes. `name` tells several sets of links apart.
/// Memory lives as long as any of the collectives. Errors: peerLost.
Result<std::vector<Collective>> openCollectives(Transport &transport, const RankLayout &layout,
                                                const std::vector<Scheme> &schemes,
                                                std::int64_t largest, const std::string &name);

} // namespace syncline::calibrate
