// All-reduce: the sum of a message over all ranks, by any scheme.
#pragma once

#include "runtime/transport/Transport.h"
#include "syncline/Scheme.h"
#include "syncline/Step.h"

#include <span>

namespace syncline::core {
enum class Half; // runtime/core/Channel.h
}

namespace syncline::transport {

/// The placement and the roles of the ranks, as far as schemes depend on them.
struct RankLayout {
  int ranksPerNode = 1; ///< workers [i·n, (i+1)·n) share a node
  int servers = 0;      ///< the transport's last ranks, which only serve "parameter-server"; the
                        ///< others are workers, and every other collective is theirs alone
};

/// Sums messages over the ranks, in place. One thread at a time uses it.
///
/// The result has the same bits on every rank, and the same bits in a repeated run with the same
/// ranks. (NaNs stay NaNs, but their payload may differ.) The number of ranks and the length are
/// arbitrary; there may be fewer elements than ranks. In the files of the schemes, N is the number
/// of the message's bytes and P the number of ranks, and a stated cost is that of the busiest rank.
class AllReduce {
public:
  virtual ~AllReduce() = default;

  /// All ranks call it with the same lengths in the same order. Errors: peerLost, after which every
  /// run fails and the bytes may be read until this object is destroyed; badInput for a type that
  /// has no sum.
  Status run(void *data, std::size_t bytes, ElementType type);
  /// One half of run(), as core::Channel::issueHalf() says. The first half and then the second are
  /// run(), to the last bit. Errors: as run(); internal where the scheme has no halves.
  Status runHalf(void *data, std::size_t bytes, ElementType type, core::Half half);

protected:
  explicit AllReduce(int ranks) : ranks(ranks) {}
  /// Sums the message. Precondition: at least two ranks, and at least one element of a type that
  /// has a sum.
  virtual Status sum(std::byte *data, std::size_t bytes, ElementType type) = 0;
  /// One half of sum(), under the same precondition.
  virtual Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half);

  const int ranks; ///< number of ranks whose values are summed
};

/// Ok when the bytes are whole elements of a type that has a sum; otherwise the error says
/// which is wrong.
Status checkSummable(std::size_t bytes, ElementType type);

/// The schemes that createAllReduce() takes: sums (isSum) that this transport carries. "library" is
/// NCCL's alone. Parameter servers are colocated, or on the layout's servers.
std::span<const Scheme> allReduceSchemes();

/// Opens the links that the scheme needs. All workers call it together; dedicated servers open
/// their ends at the same time (DedicatedServers.h). `name`, to which "/" and the scheme's name are
/// appended, distinguishes several all-reduces. Errors: peerLost; badInput for a scheme that is no
/// all-reduce or a layout that it cannot use.
Result<std::unique_ptr<AllReduce>> createAllReduce(Scheme scheme, Transport &transport,
                                                   const std::string &name,
                                                   const RankLayout &layout);

} // namespace syncline::transport
