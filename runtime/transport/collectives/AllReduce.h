// The sum of a message over all ranks, whatever the scheme.
#pragma once

#include "runtime/transport/Transport.h"
#include "syncline/Scheme.h"
#include "syncline/Step.h"

#include <span>

namespace syncline {

/// Where ranks live and what they do, as far as a scheme cares.
struct RankLayout {
  int ranksPerNode = 1; ///< workers [i·n, (i+1)·n) share a node
  int servers = 0;      ///< the transport's last ranks, which only serve "parameter-server"; the
                        ///< others are workers, and every other collective is theirs alone
};

/// Sums messages over the ranks, in place. One thread at a time.
///
/// The result has the same bits on every rank, and again in a run repeated with the same ranks
/// (NaNs stay NaNs; their payload may differ). Any number of ranks and any length will do, fewer
/// elements than ranks included. In the files of the schemes N is the message's bytes and P the
/// number of ranks; costs are of the rank with the most to do.
class AllReduce {
public:
  virtual ~AllReduce() = default;

  /// All ranks call it with the same lengths in the same order. Errors: peerLost, after which every
  /// run fails and the bytes may be read until this object is destroyed; badInput for a type that
  /// has no sum.
  Status run(void *data, std::size_t bytes, ElementType type);

protected:
  explicit AllReduce(int ranks) : ranks(ranks) {}
  /// There are several ranks, and at least one whole element, of a type that has a sum.
  virtual Status sum(std::byte *data, std::size_t bytes, ElementType type) = 0;

  const int ranks; ///< whose values are summed
};

/// Whether the bytes are whole elements of a type that has a sum; the error says which is wrong.
Status checkSummable(std::size_t bytes, ElementType type);

/// The schemes that are an all-reduce: ring, recursive doubling, halving-doubling, tree,
/// hierarchical and parameter server (colocated, or on the layout's servers).
std::span<const Scheme> allReduceSchemes();
/// False for reduce-scatter and factors, which complete something else than the gradients.
bool isAllReduce(Scheme scheme);

/// Opens the links that the scheme needs; all workers together, with dedicated servers these too
/// (DedicatedServers.h). `name`, to which "/" and the scheme's name are appended, tells several
/// apart. Errors: peerLost; badInput for a scheme that is no all-reduce or a layout that it cannot
/// use.
Result<std::unique_ptr<AllReduce>> createAllReduce(Scheme scheme, Transport &transport,
                                                   const std::string &name,
                                                   const RankLayout &layout);

} // namespace syncline
