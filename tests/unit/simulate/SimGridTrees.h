// The runtime's two trees once more, for SimGrid: places, cut, and a wire of segments.
#pragma once

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace sg4 = simgrid::s4u;

/// The runtime's trees: their places by recursion, and the cut of a message.
struct TwoTrees {
  struct Place {
    int parent = -1, depth = 0;
    std::vector<int> children;
  };

  TwoTrees(int ranks, std::int64_t bytes) {
    const double task = bytes > 32768 ? static_cast<double>(bytes) / 2 : static_cast<double>(bytes);
    count = bytes > 32768 ? 2 : 1;
    segments = std::max(task > 65536 ? 2 : 1, static_cast<int>(std::ceil(task / 131072)));
    segmentBytes = task / segments;
    for (int tree = 0; tree < count; ++tree) {
      std::vector<Place> &all = places.emplace_back(ranks);
      place(all, tree, 0, ranks, -1, 0);
      for (const Place &one : all)
        height = std::max(height, one.depth);
    }
  }

  static std::string box(int message, int tree, int from, int to, int segment) {
    return std::to_string(message) + ":tree" + std::to_string(tree) + ":" + std::to_string(from) +
           ":" + std::to_string(to) + ":" + std::to_string(segment);
  }

  int count = 1, segments = 1, height = 0;
  double segmentBytes = 0;
  std::vector<std::vector<Place>> places; ///< by tree and rank

private:
  /// The positions [first, last): as many to the left of the root as fill whole levels. Tree 1's
  /// positions are one ahead of the ranks.
  static void place(std::vector<Place> &all, int tree, int first, int last, int parent, int depth) {
    if (first >= last)
      return;
    int left = 0;
    while (2 * left + 1 < last - first)
      left = 2 * left + 1;
    const int ranks = static_cast<int>(all.size()), root = (first + left - tree + ranks) % ranks;
    all[root].parent = parent;
    all[root].depth = depth;
    if (parent >= 0)
      all[parent].children.push_back(root);
    place(all, tree, first, first + left, root, depth + 1);
    place(all, tree, first + left + 1, last, root, depth + 1);
  }
};

/// The segments that one rank sends to another over one tree, one after the other, the first after
/// the latency.
class Wire {
public:
  Wire(double latency, int segments)
      : sender(sg4::Actor::create("wire", sg4::this_actor::get_host(), [this, latency, segments] {
          static int payload = 0;
          sg4::this_actor::sleep_for(latency);
          for (int i = 0; i < segments; ++i) {
            queued->acquire();
            const auto [box, bytes] = queue[i];
            box->put(&payload, static_cast<std::uint64_t>(bytes));
          }
        })) {}

  void push(sg4::Mailbox *box, double bytes) {
    queue.emplace_back(box, bytes);
    queued->release();
  }
  void finish() { sender->join(); }

private:
  std::deque<std::pair<sg4::Mailbox *, double>> queue;
  sg4::SemaphorePtr queued = sg4::Semaphore::create(0);
  sg4::ActorPtr sender;
};
