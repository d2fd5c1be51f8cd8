// All collectives through the host's memory, by scheme, with their own buffers.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"

#include <functional>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// One scheme, ready to carry messages.
struct Collective {
  Scheme scheme = Scheme::ring;
  /// Carries a message of `bytes` bytes, a multiple of 4, as a plan's channel does. For "factors",
  /// `bytes` is what one rank contributes. "reduce-scatter" runs without the optimizer between its
  /// halves. All ranks call it together, one thread at a time.
  std::function<Status(std::int64_t bytes)> run;
  std::int64_t largest; ///< bytes of the longest message
};

/// The schemes that these ranks can use. "hierarchical" needs several nodes of several ranks.
std::vector<Scheme> usableSchemes(int ranks, int ranksPerNode);

/// Opens the links of each scheme. All ranks call it together. No message is longer than
/// largestMessage() for `largest`. `name` distinguishes several sets of links. The buffers live as
/// long as any of the collectives. Errors: peerLost.
Result<std::vector<Collective>> openCollectives(transport::Transport &transport,
                                                const transport::RankLayout &layout,
                                                const std::vector<Scheme> &schemes,
                                                std::int64_t largest, const std::string &name);

} // namespace syncline::calibrate
