// Threads, each a rank.
#include "tests/unit/api/Ranks.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace syncline::testing {

syncline_store MemoryStore::callbacks() { return {this, set, get}; }

int MemoryStore::set(void *context, const char *key, const void *value, size_t bytes) {
  auto &store = *static_cast<MemoryStore *>(context);
  std::lock_guard lock(store.mutex);
  store.values[key] = std::string(static_cast<const char *>(value), bytes);
  store.changed.notify_all();
  return 0;
}

int64_t MemoryStore::get(void *context, const char *key, void *value, size_t capacity,
                         double seconds) {
  auto &store = *static_cast<MemoryStore *>(context);
  std::unique_lock lock(store.mutex);
  if (!store.changed.wait_for(lock, std::chrono::duration<double>(seconds),
                              [&] { return store.values.contains(key); }))
    return -1;
  const std::string &found = store.values.at(key);
  std::memcpy(value, found.data(), std::min(capacity, found.size()));
  return static_cast<int64_t>(found.size());
}

int Rank::issue(int message, std::vector<float> &values, syncline_operation how) {
  return syncline_issue(group, message, values.data(), static_cast<int64_t>(values.size()),
                        SYNCLINE_F32, how, &ticket, &error);
}

static void runRank(Rank &rank, const std::string &folder, const syncline_group_options &options,
                    const std::function<void(Rank &)> &body, double closeSeconds) {
  ASSERT_EQ(syncline_plan_open(folder.c_str(), &rank.plan, &rank.error), SYNCLINE_OK)
      << rank.error.text;
  syncline_group_join(rank.plan, &options, &rank.group, &rank.error);
  body(rank);
  if (rank.group)
    syncline_group_close(rank.group, closeSeconds, &rank.error);
  syncline_plan_close(rank.plan);
}

void onRanks(int ranks, const std::vector<std::string> &folders,
             const std::function<void(Rank &)> &body, const Change &change, double closeSeconds) {
  MemoryStore memory;
  const syncline_store store = memory.callbacks();
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      syncline_group_options options = {};
      options.size = sizeof options;
      options.rank = r;
      options.ranks = ranks;
      options.store = &store;
      if (change)
        change(options, r);
      Rank &rank = all[static_cast<std::size_t>(r)];
      rank.number = r;
      rank.count = ranks;
      runRank(rank, folders[folders.size() > 1 ? static_cast<std::size_t>(r) : 0], options, body,
              closeSeconds);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace syncline::testing
