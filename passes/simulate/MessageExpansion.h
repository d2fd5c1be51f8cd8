// MessageExpansion: a message as tasks on all ranks: sends, sums, and which task waits for which.
#pragma once

#include "passes/simulate/Topology.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// One task of a message. It begins when all tasks that it waits for have ended, takes
/// `delay + delayPerByte * bytes` seconds, then sends share * bytes over its path, where it
/// has one.
struct Task {
  double delay = 0, delayPerByte = 0, share = 0;
  Path path = {};
  std::int32_t waitsFor = 0; ///< number of tasks that it waits for
};

/// The tasks of a message. Rank r begins it with task r and is done when task exits[r] is done.
/// Immutable after finish().
class MessageExpansion {
public:
  /// With `isTogether` no task begins before all ranks have begun.
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
  /// Sets the task that ends the message for each rank. This is the last call.
  void finish(std::vector<int> exitTasks);

  int ranks() const { return static_cast<int>(exits.size()); }
  bool isTogether() const { return areTogether; }
  int size() const { return static_cast<int>(tasks.size()); }
  const Task &operator[](int task) const { return tasks[static_cast<std::size_t>(task)]; }
  std::span<const int> after(int task) const {
    return std::span(successors).subspan(offsets[task], offsets[task + 1] - offsets[task]);
  }
  /// The ranks for which the message is over with this task: a range of a sorted list.
  std::span<const std::pair<int, int>> exitsAt(int task) const;

private:
  std::vector<Task> tasks;
  std::vector<std::pair<int, int>> edges; ///< cleared by finish()
  std::vector<int> successors;
  std::vector<std::size_t> offsets;
  std::vector<std::pair<int, int>> exits; ///< task and rank, sorted
  bool areTogether;
};

/// Expands a message of one byte. Sizes scale the result, unless servers or trees cut the message
/// into pieces. Precondition: the topology's machines allow the scheme and have more than one rank.
MessageExpansion expand(const Message &message, const Topology &topology);
/// The approximate number of tasks of expand().
double tasksOf(const Message &message, const Machines &machines);
/// Whether messages of all sizes have the same tasks.
bool scales(const Message &message, const Machines &machines);

/// What expand() and tasksOf() do for trees.
MessageExpansion expandTree(const Message &message, const Topology &topology);
double treeTasksOf(std::int64_t bytes, int ranks);

/// Expands a message for one rank that stands for all, since all are alike and in step.
/// Precondition: isSymmetric.
MessageExpansion expandSymmetric(const Message &message, const Topology &topology);
/// The approximate number of tasks of expandSymmetric().
double symmetricTasksOf(const Message &message, const Machines &machines);
/// Whether all ranks do the same by this scheme.
bool isSymmetric(const Message &message, const Machines &machines);

/// A message in which all ranks, or the one that stands for all, wait for each other and then
/// for `seconds`.
MessageExpansion together(int ranks, double seconds);

} // namespace syncline::simulate
