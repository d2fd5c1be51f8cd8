// Factors and rows by NCCL's channels: every rank's parts to all, in the operation's own memory.
#include "tests/host-cuda/TestRanks.h"

#include "runtime/core/HalfFloat.h"

namespace syncline::hostcuda {
namespace {

using namespace core;

using Floats = std::vector<float>;

/// A step whose only bucket is gathered: an odd number of f32, beside integers or doubles.
struct Gathered {
  static constexpr std::int64_t floats = 35, longs = 3;

  Gathered(TestMeeting &meeting, int rank, WirePrecision wire, Scheme scheme)
      : rank(rank), peers(meeting, rank), executable(optionsFor(meeting.ranks, rank)) {
    const auto all = [&](std::int64_t n) { return n * meeting.ranks; };
    StepBuilder &step = executable.builder();
    const ElementType f32 = ElementType::f32;
    const ElementType type = scheme == Scheme::sparse ? ElementType::i64 : ElementType::f64;
    own = step.tensor({"own", Space::input, f32, {floats}, 0, 4 * floats});
    others = step.tensor({"others", Space::input, type, {longs}, 192, 8 * longs});
    const Tensor every =
        step.tensor({"every", Space::arena, f32, {all(floats)}, 0, 4 * all(floats)});
    const Tensor everyOther =
        step.tensor({"everyOther", Space::arena, type, {all(longs)}, 4096, 8 * all(longs)});
    step.bucket({5, 0, schemeName(scheme), 0, 4 * floats});
    const Tensor ins[] = {own, others}, outs[] = {every, everyOther};
    step.gather(5, ins, outs);
    step.wait(5);
    const Status finished = executable.finish();
    EXPECT_TRUE(finished.isOk()) << finished.message();
    auto opened =
        cuda::NcclChannel::open(executable, std::make_shared<cuda::NcclLinks>(executable, peers),
                                peers, {.channel = 0, .schemes = {scheme}, .wire = wire});
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
  Tensor own, others;
  std::unique_ptr<Channel> channel;
};

float factorOf(int rank, std::size_t i) { return 0.3f * static_cast<float>(i) + 100.0f * rank; }

class GatherChannelTest : public testing::TestWithParam<std::tuple<int, WirePrecision, Scheme>> {};

/// How a number arrives. Rows of a table travel whole on every wire, beside their numbers.
float arriving(float exact, WirePrecision wire, Scheme scheme) {
  if (wire == WirePrecision::fp32 || scheme == Scheme::sparse)
    return exact;
  return wire == WirePrecision::bf16 ? core::floatFromBf16(core::bf16FromFloat(exact))
                                     : core::floatFromF16(core::f16FromFloat(exact));
}

TEST_P(GatherChannelTest, BringsAllPartsToAll) {
  const auto [ranks, wire, scheme] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "200");
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, wire = wire, scheme = scheme](int rank) {
    Gathered step(meeting, rank, wire, scheme);
    Floats values(Gathered::floats);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = factorOf(rank, i);
    const std::vector<std::int64_t> others(Gathered::longs, 1000000007 + rank);
    ASSERT_TRUE(step.executable.write(step.own.id, std::as_bytes(std::span(values))).isOk());
    ASSERT_TRUE(step.executable.write(step.others.id, std::as_bytes(std::span(others))).isOk());
    step.executable.beginStep(0);
    step.channel->startStep(0);
    ASSERT_TRUE(step.executable.run(0).isOk());
    const OperationInfo &gather = step.executable.operations()[0];
    ASSERT_TRUE(step.channel->issueGather(5, gather.gathered).isOk());
    ASSERT_TRUE(step.channel->wait(5).isOk());
    const auto seen = std::make_shared<Floats>();
    const auto seenOthers = std::make_shared<std::vector<std::int64_t>>();
    const auto n = static_cast<std::size_t>(meeting.ranks);
    ASSERT_EQ(enqueue(step.executable.device().compute,
                      [=, parts = gather.gathered] {
                        const auto *const f = static_cast<const float *>(parts[0].data);
                        seen->assign(f, f + n * Gathered::floats);
                        const auto *const l = static_cast<const std::int64_t *>(parts[1].data);
                        seenOthers->assign(l, l + n * Gathered::longs);
                      }),
              cudaSuccess);
    const Status done = step.executable.synchronize();
    ASSERT_TRUE(done.isOk()) << done.message();
    for (int r = 0; r < meeting.ranks; ++r)
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ((*seen)[static_cast<std::size_t>(r) * values.size() + i],
                  arriving(factorOf(r, i), wire, scheme));
      }
    for (std::size_t i = 0; i < seenOthers->size(); ++i)
      EXPECT_EQ((*seenOthers)[i], 1000000007 + static_cast<std::int64_t>(i) / Gathered::longs);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, GatherChannelTest,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(WirePrecision::fp32, WirePrecision::bf16,
                                                          WirePrecision::fp16),
                                          testing::Values(Scheme::factors, Scheme::sparse)));

} // namespace
} // namespace syncline::hostcuda
