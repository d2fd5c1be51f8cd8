// MessageExpansion: a message as the parts that its scheme is made of: sends, sums and what waits
// for what, over all ranks.
#pragma once

#include "passes/simulate/Topology.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// Begins when all parts before it have ended; takes `delay + delayPerByte * bytes` seconds, then
/// sends share * bytes over its path, where it has one.
struct Task {
  double delay = 0, delayPerByte = 0, share = 0;
  Path path = {};
  std::int32_t waitsFor = 0; ///< how many parts
};

/// Rank r's message begins with part r, and is over for it when part exits[r] is. Immutable once
/// finished.
class MessageExpansion {
public:
  /// `isTogether`: nothing happens before all ranks have begun.
  explicit MessageExpansion(int ranks, bool isTogether = false)
      : tasks(static_cast<std::size_t>(ranks)), areTogether(isTogether) {}

  int add(const Task &task) {
    tasks.push_back(task);
    return static_cast<int>(tasks.size()) - 1;
  }
  void order(int before, int after) {
    edges.emplace_back(before, after);
    ++tasks[static_cast<std::size_t>(after)].waitsFor;
  }
  /// The last call: where each rank's message is over.
  void finish(std::vector<int> exitTasks);

  int ranks() const { return static_cast<int>(exits.size()); }
  bool isTogether() const { return areTogether; }
  int size() const { return static_cast<int>(tasks.size()); }
  const Task &operator[](int task) const { return tasks[static_cast<std::size_t>(task)]; }
  std::span<const int> after(int task) const {
    return std::span(successors).subspan(offsets[task], offsets[task + 1] - offsets[task]);
  }
  /// The ranks for which the message is over with this part: a range of a sorted list.
  std::span<const std::pair<int, int>> exitsAt(int task) const;

private:
  std::vector<Task> tasks;
  std::vector<std::pair<int, int>> edges; ///< until finished
  std::vector<int> successors;
  std::vector<std::size_t> offsets;
  std::vector<std::pair<int, int>> exits; ///< part and rank, sorted
  bool areTogether;
};

/// How a message of one byte unfolds; sizes scale it, but where servers or trees cut it into
/// pieces. Precondition: the scheme is possible on the topology's machines, more than one rank.
MessageExpansion expand(const Message &message, const Topology &topology);
/// About how many parts that has.
double tasksOf(const Message &message, const Machines &machines);
/// Whether every size has the same parts.
bool scales(const Message &message, const Machines &machines);

/// The trees' part of both.
MessageExpansion expandTree(std::int64_t bytes, const Topology &topology);
double treeTasksOf(std::int64_t bytes, int ranks);

/// One rank that stands for all: they are alike and in step. Precondition: isSymmetric.
MessageExpansion expandSymmetric(const Message &message, const Topology &topology);
/// About how many parts that has.
double symmetricTasksOf(const Message &message, const Machines &machines);
/// Whether all ranks do the same by this scheme.
bool isSymmetric(const Message &message, const Machines &machines);

/// All ranks wait for each other, then for so many seconds. Of one rank that stands for all, too.
MessageExpansion together(int ranks, double seconds);

} // namespace syncline::simulate
