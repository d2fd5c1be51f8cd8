// The runtime's servers and the simulation let the same workers go on at the same times.
#include "passes/simulate/consistency/ClockKeeper.h"
#include "runtime/servers/ClockKeeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

using namespace syncline;
using simulate::Consistency;

namespace {

struct Rule {
  Consistency simulated;
  servers::Bounds run;
};

Rule randomRule(std::mt19937_64 &random) {
  const auto lower = static_cast<std::int64_t>(random() % 5);
  const auto upper = lower + static_cast<std::int64_t>(random() % 14);
  if (random() % 4 == 0)
    return {{.form = Consistency::Form::ssp, .staleness = lower}, servers::Bounds::ssp(lower)};
  return {{.form = Consistency::Form::dssp, .staleness = lower, .upper = upper},
          servers::Bounds::dssp(lower, upper)};
}

} // namespace

// Workers with speeds of their own that jitter. Whoever goes on pushes again a step's time later.
TEST(ClockKeepersTest, RuntimeAndSimulationAgree) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> part(0, 1);
  std::size_t granted = 0, held = 0;
  for (int run = 0; run < 300; ++run) {
    const Rule rule = randomRule(random);
    const int count = static_cast<int>(2 + random() % 4);
    simulate::ClockKeeper simulated(rule.simulated, count);
    servers::ClockKeeper real(rule.run, count);
    std::vector<double> speed(static_cast<std::size_t>(count)), next(speed.size());
    for (double &seconds : speed)
      seconds = 1 + 4 * part(random);
    std::vector<std::int64_t> clocks(speed.size());
    for (std::size_t i = 0; i < speed.size(); ++i)
      next[i] = speed[i];
    for (int push = 0; push < 400; ++push) {
      const auto worker = static_cast<int>(std::ranges::min_element(next) - next.begin());
      const double now = next[worker];
      next[worker] = std::numeric_limits<double>::infinity();
      std::set<int> heldBefore;
      for (int i = 0; i < count; ++i)
        if (i == worker || real.isHeld(i))
          heldBefore.insert(i);
      real.tick(worker, ++clocks[worker], now);
      std::set<int> freed, allowed;
      for (int i : heldBefore)
        if (!real.isHeld(i))
          freed.insert(i);
      for (const simulate::ClockKeeper::Grant &grant : simulated.tick(worker, now)) {
        allowed.insert(grant.worker);
        EXPECT_EQ(grant.least, real.least());
        next[grant.worker] = now + speed[grant.worker] * (0.8 + 0.4 * part(random));
      }
      ASSERT_EQ(allowed, freed) << "run " << run << ", push " << push;
      granted += allowed.size();
      held += !allowed.contains(worker);
    }
  }
  EXPECT_GT(granted, 100'000u);
  EXPECT_GT(held, 1'000u);
}
