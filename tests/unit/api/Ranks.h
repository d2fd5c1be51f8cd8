// Ranks of a group as threads, which meet by a store in memory.
#pragma once

#include "syncline.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace syncline::testing {

/// As PyTorch's HashStore.
class MemoryStore {
public:
  /// The functions of the C interface over this object, which outlives them.
  syncline_store callbacks();

private:
  static int set(void *context, const char *key, const void *value, size_t bytes);
  static int64_t get(void *context, const char *key, void *value, size_t capacity, double seconds);

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
};

/// What a rank knows of itself. Calls with an error fill `error`.
struct Rank {
  int number = 0, count = 1;
  syncline_plan *plan = nullptr;
  syncline_group *group = nullptr;
  syncline_error error = {};

  /// Issues values and returns the code; `ticket` is the last one.
  int issue(int message, std::vector<float> &values, syncline_operation how = SYNCLINE_SUM);
  int wait(double seconds = -1) { return syncline_wait(group, ticket, seconds, &error); }
  std::uint64_t ticket = 0;
};

/// How a test's group differs from the defaults; called on each rank's thread.
using Change = std::function<void(syncline_group_options &, int rank)>;

/// Joins a group of the plan in folders[rank], or in the only folder, runs `body` on each rank and
/// closes. A rank whose join fails has no group.
void onRanks(int ranks, const std::vector<std::string> &folders,
             const std::function<void(Rank &)> &body, const Change &change = {},
             double closeSeconds = 20);

} // namespace syncline::testing
