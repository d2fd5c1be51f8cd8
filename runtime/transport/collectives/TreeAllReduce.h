// All-reduce by binary trees: few rounds, and nearly the ring's traffic for long messages.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/Trees.h"

namespace syncline::transport {

/// Sums go up a tree while results come down, segment after segment. A short message uses one tree
/// and takes 2·floor(log2 P) rounds. A long message is halved over two trees with different leaves
/// (double binary tree): a rank sends and receives at most 2N, and the message takes the time of
/// 2·floor(log2 P) rounds of one segment plus 2N.
class TreeAllReduce : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  struct Pass;
  TreeAllReduce(int ranks, std::vector<TreePlace> places, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), places(std::move(places)), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return sumHalf(data, bytes, type, core::Half::whole);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override;

  const std::vector<TreePlace> places; ///< this rank's places in both trees
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline::transport
