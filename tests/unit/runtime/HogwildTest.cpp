// A shard whose updates take no lock, while workers leave and others read.
#include "runtime/servers/Protocol.h"
#include "runtime/servers/Shard.h"

#include <algorithm>
#include <barrier>
#include <gtest/gtest.h>
#include <thread>

namespace syncline {
namespace {

using namespace servers;

bool goOn(const Awaited &) { return true; }

// A worker that is declared lost may still mix while others read, mix and leave: every value that a
// worker gets lies between those that went in, and reads wait for nobody who has left.
TEST(Hogwild, WorkerLeavesWhileOthersRead) {
  constexpr std::size_t elements = 100;
  constexpr std::int64_t rounds = 100;
  constexpr int mixers = 2, readers = 2;
  Shard shard(elements, {.workers = mixers + readers, .isExact = false, .hasLock = false});
  ASSERT_TRUE(shard.initialise(std::vector<float>(elements, 0)));
  std::barrier round(mixers + readers); // so that they meet however threads are scheduled
  const auto work = [&](int worker) {
    const std::vector<float> own(elements, 1);
    std::vector<float> values(elements);
    for (std::int64_t clock = 1; clock <= rounds; ++clock) {
      round.arrive_and_wait();
      if (worker < mixers)
        EXPECT_TRUE(shard.elastic(worker, clock, own, 0.25, values, goOn));
      else
        EXPECT_TRUE(shard.read(worker, clock, 0, values, goOn));
      if (worker == mixers && clock == rounds / 2)
        shard.leave(0); // declared lost, though it goes on
      EXPECT_GE(std::ranges::min(values), 0);
      EXPECT_LE(std::ranges::max(values), 1);
    }
    shard.leave(worker);
  };
  std::vector<std::thread> threads;
  for (int worker = 0; worker < mixers + readers; ++worker)
    threads.emplace_back(work, worker);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(shard.isDeserted());
  std::vector<float> last(elements);
  EXPECT_TRUE(shard.read(0, rounds, allHaveLeft, last, goOn));
  EXPECT_GE(std::ranges::min(last), 0.25f); // each mix leaves a quarter at least
}

} // namespace
} // namespace syncline
