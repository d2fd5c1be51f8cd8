// Calibrating by channels of the backend's, with ranks as threads: operations are the CPU's, and a
// channel is a thread of the host.
#include "runtime/calibrate/Calibration.h"
#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/run/Backends.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/GroupPeers.h"
#include "tests/unit/runtime/Ranks.h"

#include <algorithm>
#include <set>

namespace syncline::calibrate {
namespace {

using namespace core;
using namespace transport;

/// The backend of one rank, which is a thread.
class ThreadBackend final : public Backend {
public:
  explicit ThreadBackend(Transport &transport) : transport(transport) {}
  std::string_view name() const override { return "threads"; }
  Status available() const override { return Status::ok(); }
  Result<std::unique_ptr<Executable>>
  createExecutable(const ExecutableOptions &options) const override {
    return (*run::openBackend("cpu"))->createExecutable(options);
  }
  bool hasChannels() const override { return true; }
  Result<std::unique_ptr<Channel>> openChannel(Executable &executable, Peers &,
                                               const ChannelOptions &options) const override {
    auto made = CommunicationThread::create(transport, options.channel, options.schemes, {},
                                            [&](int bucket, const core::SumOverRanks &sum) {
                                              return executable.updateShard(bucket, sum);
                                            });
    if (!made)
      return made.status();
    return std::unique_ptr<Channel>(std::move(*made));
  }

private:
  Transport &transport;
};

// Everything that channels carry is measured; pairs are not, for they have none.
TEST(Channels, MeasureEveryScheme) {
  Settings settings;
  settings.seconds = 3;
  settings.sizes = {1 << 10, 64 << 10}; // for which there is always time
  settings.schemes = channelSchemes();
  std::erase(settings.schemes, Scheme::library); // a thread of the host has no NCCL
  std::vector<Findings> all(2);
  syncline::testing::runRanks(2, [&](int rank, Group &group) {
    const ThreadBackend backend(*group.transport());
    const auto peers = createPeers(group, 20, 20);
    Progress silent(false, settings.seconds);
    Calibration calibration({backend, nullptr, peers.get()}, settings, silent);
    Result<Findings> found = calibration.run();
    ASSERT_TRUE(found.isOk()) << found.status().message();
    all[static_cast<std::size_t>(rank)] = *found;
  });
  const Findings &f = all[0];
  EXPECT_TRUE(f.pairs.empty());
  ASSERT_EQ(f.schemes.size(), 5u);
  for (std::size_t i = 0; i < f.schemes.size(); ++i) {
    const SchemeFinding &scheme = f.schemes[i];
    EXPECT_EQ(scheme.scheme, settings.schemes[i]);
    ASSERT_FALSE(scheme.sizes.empty()) << schemeName(scheme.scheme);
    EXPECT_GT(scheme.sizes.front().seconds.median, 0) << schemeName(scheme.scheme);
    // Both ranks find the same.
    EXPECT_EQ(scheme.curve().size(), all[1].schemes[i].curve().size());
    EXPECT_EQ(scheme.sizes.back().seconds.median, all[1].schemes[i].sizes.back().seconds.median);
  }
  for (const auto *kernels : {&f.device.compute, &f.device.memory})
    for (const KernelFinding &kernel : *kernels)
      EXPECT_GT(kernel.seconds.median, 0) << kernel.name;
  EXPECT_EQ(f.device.memory.front().name, "copy of a tensor");
  EXPECT_LT(f.device.smallest.seconds.median, 1e-3);
  // Samples of 20 ms are short beside what else a machine does: no more than that they are there.
  EXPECT_GT(f.interference.messages.median, 0);
  EXPECT_GE(f.interference.computation.samples, 3);
  EXPECT_GT(f.interference.computation.median, 0);
  EXPECT_GE(f.interference.beside.samples, 1);
  EXPECT_GE(f.interference.bytes, Overlap::minBytes);
}

// A rank that is gone ends the other, which says what was being measured.
TEST(Channels, LostRanksAreNamed) {
  const Settings settings{.seconds = 3, .sizes = {4 << 10}, .schemes = {Scheme::ring}};
  std::string message;
  syncline::testing::runRanks(
      2,
      [&](int rank, Group &group) {
        ASSERT_TRUE(group.gather("both are there", "", 20).isOk());
        if (rank == 1)
          return group.abandon(Status::badInput("no more"));
        const ThreadBackend backend(*group.transport());
        const auto peers = createPeers(group, 20, 20);
        Progress silent(false, settings.seconds);
        Calibration calibration({backend, nullptr, peers.get()}, settings, silent);
        Result<Findings> found = calibration.run();
        ASSERT_FALSE(found.isOk());
        message = found.status().message();
      },
      true, false);
  EXPECT_NE(message.find("rank 1"), std::string::npos) << message;
  EXPECT_NE(message.find("while measuring"), std::string::npos) << message;
}

// The ring is there whatever is asked for. The tree and what the library chooses have a channel of
// their own, since a tuner chooses for all of a channel's messages alike. No two messages under way
// have one bucket.
TEST(Channels, BucketsOfEachChannel) {
  const ChannelWishes wishes{
      {Scheme::tree, Scheme::library, Scheme::reduceScatter, Scheme::factors}, 1 << 20};
  std::set<int> ids;
  std::map<int, std::set<Scheme>> schemes;
  int sharded = 0;
  for (const Bucket &bucket : bucketsFor(wishes)) {
    EXPECT_TRUE(ids.insert(bucket.id).second) << bucket.id;
    EXPECT_GT(bucket.id, 0); // the device's own
    EXPECT_EQ(bucket.offset, 0);
    EXPECT_EQ(bucket.extent, wishes.largest);
    schemes[bucket.channel].insert(bucket.scheme);
    sharded += bucket.scheme == Scheme::reduceScatter;
  }
  EXPECT_EQ(schemes[0], (std::set<Scheme>{Scheme::ring, Scheme::reduceScatter, Scheme::factors}));
  EXPECT_EQ(schemes[1], (std::set<Scheme>{Scheme::tree}));
  EXPECT_EQ(schemes[2], (std::set<Scheme>{Scheme::library}));
  EXPECT_EQ(schemes[3], (std::set<Scheme>{Scheme::tree}));
  EXPECT_EQ(sharded, 2 * Repetitions::maxCount);
}

// Schemes that NCCL has, and those whose messages are gathered.
TEST(Channels, Schemes) {
  const auto carries = [](Scheme scheme) {
    const auto schemes = channelSchemes();
    return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
  };
  EXPECT_TRUE(carries(Scheme::factors));
  EXPECT_TRUE(carries(Scheme::tree));
  EXPECT_FALSE(carries(Scheme::halvingDoubling));
}

} // namespace
} // namespace syncline::calibrate
