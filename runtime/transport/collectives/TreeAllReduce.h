// All-reduce by binary trees: few rounds and, for long messages, nearly the ring's traffic.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/Trees.h"

namespace syncline {

/// Sums go up a tree and results come down, segment behind segment, both at the same time. A short
/// message uses one tree: 2·floor(log2 P) rounds. A long one is halved over two trees, in which
/// other ranks are leaves: a rank sends and receives at most 2N, and it takes
/// 2·floor(log2 P) rounds of one segment and 2N.
class TreeAllReduce : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  struct Pass;
  TreeAllReduce(int ranks, std::vector<TreePlace> places, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), places(std::move(places)), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const std::vector<TreePlace> places; ///< in both trees
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline
