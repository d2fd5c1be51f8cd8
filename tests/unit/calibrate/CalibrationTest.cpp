// Measuring, with ranks as threads over loopback.
#include "runtime/calibrate/Calibration.h"
#include "runtime/calibrate/Collectives.h"
#include "runtime/run/Backends.h"
#include "tests/unit/runtime/Ranks.h"

#include <cmath>
#include <mutex>

namespace syncline::calibrate {
namespace {

using syncline::testing::runRanks;

/// What every rank finds.
std::vector<Findings> calibrate(int ranks, const Settings &settings) {
  std::vector<Findings> all(ranks);
  runRanks(ranks, [&](int rank, transport::Group &group) {
    Progress silent(false, settings.seconds);
    Calibration calibration({**run::openBackend("cpu"), group.transport()}, settings, silent);
    Result<Findings> found = calibration.run();
    ASSERT_TRUE(found.isOk()) << found.status().message();
    all[rank] = *found;
  });
  return all;
}

/// Each measured thing has a time, and sizes ascend.
void expectComplete(const Findings &f) {
  for (const auto *kernels : {&f.device.compute, &f.device.memory})
    for (const KernelFinding &kernel : *kernels) {
      EXPECT_GT(kernel.seconds.median, 0) << kernel.name;
      EXPECT_GT(kernel.fastestRank, 0) << kernel.name;
      EXPECT_LE(kernel.fastestRank, kernel.seconds.upperQuartile) << kernel.name;
    }
  EXPECT_GT(f.device.computeRate(), 1e8);
  EXPECT_GT(f.device.memoryRate(), 1e8);
  EXPECT_LT(f.device.smallest.seconds.median, 1e-4);
  for (const SchemeFinding &scheme : f.schemes) {
    ASSERT_FALSE(scheme.sizes.empty()) << schemeName(scheme.scheme);
    for (std::size_t i = 0; i < scheme.sizes.size(); ++i) {
      EXPECT_GT(scheme.sizes[i].seconds.median, 0);
      EXPECT_GE(scheme.sizes[i].seconds.samples, 2);
      if (i > 0) {
        EXPECT_GT(scheme.sizes[i].bytes, scheme.sizes[i - 1].bytes);
      }
    }
  }
}

// Every scheme that three ranks can use is measured, and longer messages take longer.
TEST(Calibration, MeasuresEverySchemeOfThreeRanks) {
  Settings settings;
  settings.seconds = 3;
  settings.sizes = {4 << 10, 64 << 10, 1 << 20};
  settings.schemes = usableSchemes(3, 1);
  const std::vector<Findings> all = calibrate(3, settings);
  const Findings &f = all[0];
  expectComplete(f);
  ASSERT_EQ(f.schemes.size(), 7u);
  // Four more schemes sum, and computation beside them needs 15 s each.
  EXPECT_GE(f.besideOthers, 59.9);
  EXPECT_EQ(f.pairs.size(), 2u);
  EXPECT_GT(f.interference.messages.median, 0);
  EXPECT_GE(f.interference.computation.samples, 3);
  double shortest = 0, longest = 0; // over all schemes, since a busy machine disturbs each
  for (const SchemeFinding &scheme : f.schemes)
    if (scheme.sizes.back().bytes == 1 << 20) {
      shortest += scheme.sizes.front().seconds.median;
      longest += scheme.sizes.back().seconds.median;
    }
  // On a busy machine there may be no time for the longest size.
  EXPECT_TRUE(f.unmeasured.empty() ? longest > shortest
                                   : f.unmeasured == std::vector<std::int64_t>{1 << 20})
      << longest << " s, " << shortest << " s";
}

// With enough time computation is measured beside messages of each scheme that sums; with less, the
// findings say how much that is. A busy machine needs more than an idle one.
TEST(Calibration, MeasuresInterferenceByScheme) {
  Settings settings;
  settings.seconds = 17;
  settings.sizes = {1 << 10};
  settings.schemes = {Scheme::ring, Scheme::tree, Scheme::factors};
  std::vector<Findings> all = calibrate(2, settings);
  while (all[0].besideOthers > 0 && settings.seconds < test::patience) {
    EXPECT_GT(all[0].besideOthers, settings.seconds);
    EXPECT_EQ(all[0].schemes[1].besides.computation.samples, 0);
    settings.seconds = 2 * all[0].besideOthers;
    all = calibrate(2, settings);
  }
  for (const Findings &f : all) {
    EXPECT_EQ(f.besideOthers, 0);
    EXPECT_EQ(f.schemes[0].besides.computation.samples, 0); // stands for the cluster
    EXPECT_GE(f.schemes[1].besides.computation.samples, 3);
    EXPECT_EQ(f.schemes[2].besides.computation.samples, 0);
    EXPECT_EQ(f.schemes[1].besides.computation.median,
              all[0].schemes[1].besides.computation.median);
  }
}

// All ranks decide alike, so they measure the same sizes and have the same medians.
TEST(Calibration, RanksFindTheSame) {
  Settings settings;
  settings.seconds = 2;
  settings.sizes = {1 << 10, 64 << 10};
  settings.schemes = {Scheme::ring, Scheme::factors};
  const std::vector<Findings> all = calibrate(3, settings);
  for (const Findings &f : all) {
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(f.schemes[i].sizes.size(), all[0].schemes[i].sizes.size());
      for (std::size_t j = 0; j < f.schemes[i].sizes.size(); ++j) {
        EXPECT_EQ(f.schemes[i].sizes[j].bytes, all[0].schemes[i].sizes[j].bytes);
        EXPECT_EQ(f.schemes[i].sizes[j].seconds.median, all[0].schemes[i].sizes[j].seconds.median);
      }
    }
  }
  // One rank contributes at most a third of the longest message.
  EXPECT_LE(all[0].schemes[1].sizes.back().bytes, (64 << 10) / 3);
}

// The samples of a message that takes longer than 5 ms are kept, on all ranks the same.
TEST(Calibration, SamplesOfLongMessagesAreKept) {
  Settings settings;
  settings.seconds = 2;
  settings.sizes = {64 << 20};
  settings.schemes = {Scheme::ring};
  const std::vector<Findings> all = calibrate(2, settings);
  const SizeFinding &size = all[0].schemes[0].sizes.front();
  ASSERT_EQ(size.single.size(), static_cast<std::size_t>(size.seconds.samples));
  EXPECT_EQ(summarize(size.single).median, size.seconds.median);
  EXPECT_EQ(all[1].schemes[0].sizes.front().single, size.single);
}

// Nodes of two ranks: their hierarchy and the ring inside each are measured as well.
TEST(Calibration, NodesOfTwoRanks) {
  Settings settings;
  settings.seconds = 2;
  settings.sizes = {4 << 10, 64 << 10};
  settings.schemes = {Scheme::hierarchical};
  settings.ranksPerNode = 2;
  const std::vector<Findings> all = calibrate(4, settings);
  expectComplete(all[0]);
  EXPECT_EQ(all[0].schemes[0].scheme, Scheme::hierarchical);
  ASSERT_EQ(all[0].inside.sizes.size(), 2u);
  for (const Findings &f : all)
    EXPECT_EQ(f.inside.sizes[1].seconds.median, all[0].inside.sizes[1].seconds.median);
}

TEST(Calibration, HierarchiesNeedNodes) {
  auto has = [](int ranks, int perNode) {
    const auto schemes = usableSchemes(ranks, perNode);
    return std::find(schemes.begin(), schemes.end(), Scheme::hierarchical) != schemes.end();
  };
  EXPECT_TRUE(has(4, 2));
  EXPECT_FALSE(has(4, 1));
  EXPECT_FALSE(has(4, 4));
}

// A long message without time for it is left out for all schemes, and named.
TEST(Calibration, NoTimeForLongMessages) {
  Settings settings;
  settings.seconds = 1;
  settings.sizes = {64 << 10, 1 << 20, 256 << 20};
  settings.schemes = {Scheme::ring, Scheme::tree};
  const Findings f = calibrate(2, settings)[0];
  ASSERT_FALSE(f.unmeasured.empty());
  EXPECT_EQ(f.unmeasured.back(), 256 << 20);
  EXPECT_LT(f.seconds, test::patience);
}

// Whatever the time, no scheme that was asked for goes without any size.
TEST(Calibration, TheFirstSizeIsAlwaysMeasured) {
  Settings settings;
  settings.seconds = 1;
  settings.sizes = {128 << 20};
  settings.schemes = {Scheme::ring, Scheme::recursiveDoubling, Scheme::halvingDoubling,
                      Scheme::tree};
  const Findings f = calibrate(2, settings)[0];
  expectComplete(f);
  EXPECT_TRUE(f.unmeasured.empty());
}

// A rank that is gone ends the others, which say so and what was being measured.
TEST(Calibration, LostRanksAreNamed) {
  const Settings settings{.seconds = 3, .sizes = {4 << 10}, .schemes = {Scheme::ring}};
  std::mutex mutex;
  std::vector<std::string> messages;
  runRanks(
      2,
      [&](int rank, transport::Group &group) {
        ASSERT_TRUE(group.gather("both are there", "", 20).isOk());
        if (rank == 1)
          return group.abandon(Status::badInput("no more"));
        Progress silent(false, settings.seconds);
        Calibration calibration({**run::openBackend("cpu"), group.transport()}, settings, silent);
        Result<Findings> found = calibration.run();
        ASSERT_FALSE(found.isOk());
        std::lock_guard lock(mutex);
        messages.push_back(found.status().message());
      },
      true, false);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("rank 1"), std::string::npos) << messages[0];
  EXPECT_NE(messages[0].find("while measuring"), std::string::npos) << messages[0];
}

} // namespace
} // namespace syncline::calibrate
