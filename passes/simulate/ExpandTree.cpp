// Expands a message over the runtime's trees, segment by segment.
#include "passes/simulate/MessageExpansion.h"

#include "passes/problem/TreeCost.h"

#include <map>

namespace syncline::simulate {

namespace {

using problem::TreeCut;

/// Follows every rank through its program, beat by beat (runtime/transport/collectives). With H the
/// trees' height, a rank at depth d handles segment i on its way up at beat i + H - d and on its
/// way down at beat i + H + d, so each segment that a rank receives was sent one beat before.
class TreeUnfolder {
public:
  TreeUnfolder(const Message &message, const Topology &topology)
      : topology(topology), ranks(topology.machines().ranks), cut(problem::treeCut(message.bytes)),
        share(1.0 / cut.trees / static_cast<double>(cut.segments)), wireShare(message.wireShare),
        unfolding(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      last.push_back(rank);
      for (int tree = 0; tree < cut.trees; ++tree)
        places.push_back(treePlace(tree, rank, ranks));
    }
  }

  MessageExpansion expand() {
    const int height = treeHeight(ranks);
    for (std::int64_t beat = 0; beat < cut.segments + 2 * height; ++beat)
      for (int rank = 0; rank < ranks; ++rank)
        for (int tree = 0; tree < cut.trees; ++tree) {
          const std::int64_t arrived = beat - height, depth = placeOf(rank, tree).depth;
          if (isSegment(arrived + depth))
            goUp(rank, tree);
          if (isSegment(arrived - depth))
            goDown(rank, tree);
        }
    for (const auto &[wire, segments] : wires)
      last[wire.from] = after(last[wire.from], segments.back(), 0);
    unfolding.finish(last);
    return std::move(unfolding);
  }

private:
  struct Wire {
    int from, to, tree;
    auto operator<=>(const Wire &) const = default;
  };

  bool isSegment(std::int64_t segment) const { return segment >= 0 && segment < cut.segments; }
  const TreePlace &placeOf(int rank, int tree) const { return places[rank * cut.trees + tree]; }

  /// Adds a send. The rank's program continues while a segment leaves. Segments of one wire
  /// follow each other; wires run beside each other. The first segment on a wire pays the
  /// latency, and that of the `before` sends that its rank begins at the same time; later ones
  /// keep their distance.
  void send(int from, int to, int tree, int before = 0) {
    const Topology::Hop hop = topology.hop(from, to);
    std::vector<int> &wire = wires[{from, to, tree}];
    const int task = unfolding.add({.delay = wire.empty() ? (1 + before) * hop.latency : 0,
                                    .share = share * wireShare,
                                    .path = hop.path});
    unfolding.order(last[from], task);
    if (!wire.empty())
      unfolding.order(wire.back(), task);
    wire.push_back(task);
  }

  /// Makes the rank wait for the next segment on the wire, and sum it where `adds`.
  void receive(int from, int to, int tree, bool adds) {
    std::size_t &next = taken[{from, to, tree}];
    const int segment = wires[{from, to, tree}][next++];
    last[to] = after(last[to], segment, adds ? share * topology.reduceSecondsPerByte(to) : 0);
  }

  int after(int one, int other, double secondsPerByte) {
    const int task = unfolding.add({.delayPerByte = secondsPerByte});
    unfolding.order(one, task);
    unfolding.order(other, task);
    return task;
  }

  void goUp(int rank, int tree) {
    const TreePlace &place = placeOf(rank, tree);
    for (int child : place.children)
      receive(child, rank, tree, true);
    if (place.parent >= 0)
      send(rank, place.parent, tree);
  }

  void goDown(int rank, int tree) {
    const TreePlace &place = placeOf(rank, tree);
    if (place.parent >= 0)
      receive(place.parent, rank, tree, false);
    for (int before = 0; int child : place.children)
      send(rank, child, tree, before++);
  }

  const Topology &topology;
  const int ranks;
  const TreeCut cut;
  const double share;     ///< a segment's share of the message
  const double wireShare; ///< the part of it that travels
  MessageExpansion unfolding;
  std::vector<TreePlace> places;          ///< by rank and tree
  std::vector<int> last;                  ///< the latest task of each rank
  std::map<Wire, std::vector<int>> wires; ///< tasks that send on each wire
  std::map<Wire, std::size_t> taken;      ///< number of these that have been received
};

} // namespace

MessageExpansion expandTree(const Message &message, const Topology &topology) {
  return TreeUnfolder(message, topology).expand();
}

double treeTasksOf(std::int64_t bytes, int ranks) {
  const TreeCut cut = problem::treeCut(bytes);
  return 4.0 * (ranks - 1) * cut.trees * static_cast<double>(cut.segments) + ranks;
}

} // namespace syncline::simulate
