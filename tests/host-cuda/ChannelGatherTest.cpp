// Factors by NCCL's channels: every rank's parts to all, in the operation's own memory.
#include "tests/host-cuda/TestRanks.h"

#include "runtime/data/HalfFloat.h"

namespace syncline::hostcuda {
namespace {

using namespace core;
using namespace data;

using Floats = std::vector<float>;

/// A step whose only bucket travels by factors: one of f32 with an odd number of elements, one of
/// i64, which no wire rounds.
struct Factors {
  static constexpr std::int64_t floats = 35, integers = 3;

  Factors(TestMeeting &meeting, int rank, WirePrecision wire)
      : rank(rank), peers(meeting, rank), executable(optionsFor(meeting.ranks, rank)) {
    const auto all = [&](std::int64_t n) { return n * meeting.ranks; };
    StepBuilder &step = executable.builder();
    const ElementType f32 = ElementType::f32, i64 = ElementType::i64;
    own = step.tensor({"own", Space::input, f32, {floats}, 0, 4 * floats});
    labels = step.tensor({"labels", Space::input, i64, {integers}, 192, 8 * integers});
    const Tensor every =
        step.tensor({"every", Space::arena, f32, {all(floats)}, 0, 4 * all(floats)});
    const Tensor everyLabel =
        step.tensor({"everyLabel", Space::arena, i64, {all(integers)}, 4096, 8 * all(integers)});
    step.bucket({5, 0, "factors", 0, 4 * floats, 0, 0});
    const Tensor ins[] = {own, labels}, outs[] = {every, everyLabel};
    step.gather(5, ins, outs);
    step.wait(5);
    const Status finished = executable.finish();
    EXPECT_TRUE(finished.isOk()) << finished.message();
    auto opened =
        cuda::NcclChannel::open(executable, std::make_shared<cuda::NcclLinks>(executable, peers),
                                peers, {.channel = 0, .schemes = {Scheme::factors}, .wire = wire});
    EXPECT_TRUE(opened.isOk()) << opened.status().message();
    if (opened)
      channel = std::move(*opened);
  }

  static ExecutableOptions optionsFor(int ranks, int rank) {
    ExecutableOptions options;
    options.sizes = {1024, 64, 1024, 1024, 64, 8192};
    options.ranks = ranks;
    options.rank = options.device = rank;
    return options;
  }

  const int rank;
  TestPeers peers;
  cuda::CudaExecutable executable;
  Tensor own, labels;
  std::unique_ptr<Channel> channel;
};

float factorOf(int rank, std::size_t i) { return 0.3f * static_cast<float>(i) + 100.0f * rank; }

class GatherChannelTest : public testing::TestWithParam<std::tuple<int, WirePrecision>> {};

TEST_P(GatherChannelTest, BringsAllPartsToAll) {
  const auto [ranks, wire] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "200");
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, wire = wire](int rank) {
    Factors step(meeting, rank, wire);
    Floats values(Factors::floats);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = factorOf(rank, i);
    const std::vector<std::int64_t> labels(Factors::integers, 1000000007 + rank);
    ASSERT_TRUE(step.executable.write(step.own.id, std::as_bytes(std::span(values))).isOk());
    ASSERT_TRUE(step.executable.write(step.labels.id, std::as_bytes(std::span(labels))).isOk());
    step.executable.beginStep(0);
    step.channel->startStep(0);
    ASSERT_TRUE(step.executable.run(0).isOk());
    const OperationInfo &gather = step.executable.operations()[0];
    ASSERT_TRUE(step.channel->issueGather(5, gather.gathered).isOk());
    ASSERT_TRUE(step.channel->wait(5).isOk());
    const auto seen = std::make_shared<Floats>();
    const auto seenLabels = std::make_shared<std::vector<std::int64_t>>();
    const auto n = static_cast<std::size_t>(meeting.ranks);
    ASSERT_EQ(enqueue(step.executable.device().compute,
                      [=, parts = gather.gathered] {
                        const auto *const f = static_cast<const float *>(parts[0].data);
                        seen->assign(f, f + n * Factors::floats);
                        const auto *const l = static_cast<const std::int64_t *>(parts[1].data);
                        seenLabels->assign(l, l + n * Factors::integers);
                      }),
              cudaSuccess);
    const Status done = step.executable.synchronize();
    ASSERT_TRUE(done.isOk()) << done.message();
    for (int r = 0; r < meeting.ranks; ++r)
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float exact = factorOf(r, i);
        EXPECT_EQ((*seen)[static_cast<std::size_t>(r) * values.size() + i],
                  wire == WirePrecision::fp32   ? exact
                  : wire == WirePrecision::bf16 ? floatFromBf16(bf16FromFloat(exact))
                                                : floatFromF16(f16FromFloat(exact)));
      }
    for (std::size_t i = 0; i < seenLabels->size(); ++i)
      EXPECT_EQ((*seenLabels)[i], 1000000007 + static_cast<std::int64_t>(i) / Factors::integers);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, GatherChannelTest,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(WirePrecision::fp32, WirePrecision::bf16,
                                                          WirePrecision::fp16)));

} // namespace
} // namespace syncline::hostcuda
