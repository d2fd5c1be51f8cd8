// Unfolding: a message as the parts that its scheme is made of: sends, sums and what waits for
// what, over all ranks.
#pragma once

#include "passes/simulate/Topology.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// Begins when all parts before it have ended; takes `delay + delayPerByte * bytes` seconds, then
/// sends share * bytes over its path, where it has one.
struct Part {
  double delay = 0, delayPerByte = 0, share = 0;
  Path path = {};
  std::int32_t waitsFor = 0; ///< how many parts
};

/// Rank r's message begins with part r, and is over for it when part exits[r] is. Immutable once
/// finished.
class Unfolding {
public:
  /// `isTogether`: nothing happens before all ranks have begun.
  explicit Unfolding(int ranks, bool isTogether = false)
      : parts(static_cast<std::size_t>(ranks)), areTogether(isTogether) {}

  int add(const Part &part) {
    parts.push_back(part);
    return static_cast<int>(parts.size()) - 1;
  }
  void order(int before, int after) {
    edges.emplace_back(before, after);
    ++parts[static_cast<std::size_t>(after)].waitsFor;
  }
  /// The last call: where each rank's message is over.
  void finish(std::vector<int> exitParts);

  int ranks() const { return static_cast<int>(exits.size()); }
  bool isTogether() const { return areTogether; }
  int size() const { return static_cast<int>(parts.size()); }
  const Part &operator[](int part) const { return parts[static_cast<std::size_t>(part)]; }
  std::span<const int> after(int part) const {
    return std::span(successors).subspan(offsets[part], offsets[part + 1] - offsets[part]);
  }
  /// The ranks for which the message is over with this part: a range of a sorted list.
  std::span<const std::pair<int, int>> exitsAt(int part) const;

private:
  std::vector<Part> parts;
  std::vector<std::pair<int, int>> edges; ///< until finished
  std::vector<int> successors;
  std::vector<std::size_t> offsets;
  std::vector<std::pair<int, int>> exits; ///< part and rank, sorted
  bool areTogether;
};

/// How a message of one byte unfolds; sizes scale it, but where servers or trees cut it into
/// pieces. Precondition: the scheme is possible on the topology's machines, more than one rank.
Unfolding unfold(const Message &message, const Topology &topology);
/// About how many parts that has.
double partsOf(const Message &message, const Machines &machines);
/// Whether every size has the same parts.
bool scales(const Message &message, const Machines &machines);

/// The trees' part of both.
Unfolding unfoldTree(std::int64_t bytes, const Topology &topology);
double treePartsOf(std::int64_t bytes, int ranks);

/// One rank that stands for all: they are alike and in step. Precondition: isSymmetric.
Unfolding fold(const Message &message, const Topology &topology);
/// About how many parts that has.
double foldedPartsOf(const Message &message, const Machines &machines);
/// Whether all ranks do the same by this scheme.
bool isSymmetric(const Message &message, const Machines &machines);

/// All ranks wait for each other, then for so many seconds. Of one rank that stands for all, too.
Unfolding together(int ranks, double seconds);

} // namespace syncline::simulate
