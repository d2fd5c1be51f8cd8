// Gradients that travel with 16 bits: what is rounded where, the same bits on all ranks, half the
// bytes; ranks as threads over loopback.
#include "Messages.h"
#include "Ranks.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/collectives/DedicatedServers.h"

#include <cmath>
#include <cstring>
#include <tuple>

namespace syncline {
namespace {

using namespace transport;
using namespace syncline::testing;
using core::WirePrecision;

float rounded(WirePrecision wire, float value) {
  return wire == WirePrecision::bf16 ? core::floatFromBf16(core::bf16FromFloat(value))
                                     : core::floatFromF16(core::f16FromFloat(value));
}

/// The largest error of a rounding, relative to the value.
double roundingOf(WirePrecision wire) { return wire == WirePrecision::bf16 ? 0x1p-8 : 0x1p-11; }

std::vector<float> valuesOf(std::size_t count, int rank) {
  const Message raw = randomMessage(ElementType::f32, count, rank, 3);
  std::vector<float> values(count);
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

/// What a ring makes of the ranks' values: the sum of a block begins behind its rank and is rounded
/// before each hop and at the end.
std::vector<float> ringSum(WirePrecision wire, std::size_t count, int ranks) {
  std::vector<std::vector<float>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(valuesOf(count, rank));
  const Blocks blocks(ranks, count * sizeof(float), sizeof(float));
  std::vector<float> sums(count);
  for (int b = 0; b < ranks; ++b)
    for (std::size_t i = blocks.block(b).begin / 4; i < blocks.block(b).end / 4; ++i) {
      float sum = all[(b + 1) % ranks][i];
      for (int hop = 2; hop <= ranks; ++hop)
        sum = all[(b + hop) % ranks][i] + rounded(wire, sum);
      sums[i] = rounded(wire, sum);
    }
  return sums;
}

class Wire : public ::testing::TestWithParam<std::tuple<WirePrecision, int>> {
protected:
  const WirePrecision wire = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());

  std::unique_ptr<CommunicationThread> open(Group &group, const std::vector<Scheme> &schemes,
                                            CommunicationThread::UpdateShard update = {}) const {
    return std::move(
        *CommunicationThread::create(*group.transport(), 0, schemes, {}, std::move(update), wire));
  }
};

// All ranks end with the same bits of the wire's type, near the sum; a ring's to the bit.
TEST_P(Wire, SumsAreRoundedAlikeOnAllRanks) {
  constexpr std::size_t count = 70001;
  const std::vector<Scheme> schemes(allReduceSchemes().begin(), allReduceSchemes().end());
  std::vector<std::vector<std::vector<float>>> results(ranks);
  runRanks(ranks, [&](int rank, Group &group) {
    auto channel = open(group, schemes);
    channel->startStep(0);
    std::vector<std::vector<float>> buckets(schemes.size(), valuesOf(count, rank));
    for (std::size_t b = 0; b < schemes.size(); ++b)
      ASSERT_TRUE(channel
                      ->issue(static_cast<int>(b), buckets[b].data(), count * 4, ElementType::f32,
                              schemes[b])
                      .isOk());
    double loss = 1.0 / 3 + rank;
    ASSERT_TRUE(channel->issue(core::lossMessage, &loss, sizeof loss, ElementType::f64).isOk());
    for (std::size_t b = 0; b < schemes.size(); ++b)
      ASSERT_TRUE(channel->wait(static_cast<int>(b)).isOk());
    ASSERT_TRUE(channel->wait(core::lossMessage).isOk());
    EXPECT_NEAR(loss, ranks / 3.0 + ranks * (ranks - 1) / 2.0, 1e-12);
    results[rank] = std::move(buckets);
  });
  const std::vector<double> exact = gatherAndSum(ElementType::f32, count, ranks, 3);
  for (std::size_t b = 0; b < schemes.size(); ++b) {
    const std::vector<float> &first = results[0][b];
    for (int r = 1; r < ranks; ++r)
      ASSERT_EQ(results[r][b], first) << schemeName(schemes[b]) << ", rank " << r;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(first[i], rounded(wire, first[i])) << schemeName(schemes[b]) << " " << i;
      // Each of at most P+1 roundings is of a partial sum below P.
      ASSERT_NEAR(first[i], exact[i], roundingOf(wire) * ranks * (ranks + 1))
          << schemeName(schemes[b]) << " " << i;
    }
    if (schemes[b] == Scheme::ring) {
      ASSERT_EQ(first, ringSum(wire, count, ranks));
    }
  }
}

// Halves give the bits of the whole message: what the second one sends is rounded where it is sent.
TEST_P(Wire, HalvesHaveTheBitsOfTheWhole) {
  constexpr std::size_t count = 70001;
  runRanks(ranks, [&](int rank, Group &group) {
    for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling}) {
      auto channel = open(group, {scheme});
      channel->startStep(0);
      std::vector<float> whole = valuesOf(count, rank), halves = whole;
      ASSERT_TRUE(channel->issue(0, whole.data(), count * 4, ElementType::f32, scheme).isOk());
      for (core::Half half : {core::Half::first, core::Half::second})
        ASSERT_TRUE(
            channel->issueHalf(1, halves.data(), count * 4, ElementType::f32, scheme, half).isOk());
      ASSERT_TRUE(channel->wait(0).isOk());
      ASSERT_TRUE(channel->wait(1).isOk());
      EXPECT_EQ(halves, whole) << schemeName(scheme);
    }
  });
}

// A ring moves half the bytes that it moves in f32.
TEST_P(Wire, MovesHalfTheBytes) {
  constexpr std::size_t count = 1 << 18;
  runRanks(ranks, [&](int, Group &group) {
    auto channel = open(group, {Scheme::ring});
    std::vector<float> values(count, 1);
    const std::int64_t before = group.transport()->traffic().sent;
    channel->startStep(0);
    ASSERT_TRUE(channel->issue(0, values.data(), count * 4, ElementType::f32).isOk());
    ASSERT_TRUE(channel->wait(0).isOk());
    const double moved = static_cast<double>(group.transport()->traffic().sent - before);
    EXPECT_NEAR(moved, 2.0 * (ranks - 1) / ranks * count * 2, 0.01 * count);
  });
}

// A sharded bucket's gradients travel rounded. Its parameters, and what its update sums, have all
// of their bits.
TEST_P(Wire, ParametersKeepTheirBits) {
  constexpr std::size_t count = 5001;
  std::vector<std::vector<float>> results(ranks);
  runRanks(ranks, [&](int rank, Group &group) {
    std::vector<float> weights(count, 1.0f / 3), gradients = valuesOf(count, rank);
    core::Range own;
    auto channel = open(group, {Scheme::reduceScatter}, [&](int, const core::SumOverRanks &sum) {
      double third = 1.0 / 3;
      EXPECT_TRUE(sum({&third, 1}).isOk());
      EXPECT_NEAR(third, ranks / 3.0, 1e-14);
      for (std::size_t i = own.begin / 4; i < own.end / 4; ++i)
        weights[i] -= gradients[i];
      return Status::ok();
    });
    own = channel->shardOf(count * 4, ElementType::f32);
    channel->startStep(0);
    ASSERT_TRUE(
        channel->issueSharded(0, {gradients.data(), weights.data(), count * 4, ElementType::f32})
            .isOk());
    ASSERT_TRUE(channel->wait(0).isOk());
    results[rank] = std::move(weights);
  });
  const std::vector<double> exact = gatherAndSum(ElementType::f32, count, ranks, 3);
  std::size_t fine = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (int r = 1; r < ranks; ++r)
      ASSERT_EQ(results[r][i], results[0][i]);
    ASSERT_NEAR(results[0][i], 1.0 / 3 - exact[i], roundingOf(wire) * ranks * ranks);
    fine += results[0][i] != rounded(wire, results[0][i]);
  }
  EXPECT_GT(fine, count / 2);
}

// Factors are rounded on the rank that has computed them too; whole numbers travel as they are.
TEST_P(Wire, FactorsAreRoundedAndNumbersAreNot) {
  constexpr std::int64_t count = 9000;
  runRanks(ranks, [&](int rank, Group &group) {
    auto channel = open(group, {Scheme::factors});
    std::vector<float> factors(static_cast<std::size_t>(ranks * count));
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(ranks), -1);
    const std::vector<float> own = valuesOf(count, rank);
    std::copy(own.begin(), own.end(), factors.begin() + rank * count);
    numbers[static_cast<std::size_t>(rank)] = 1000003 + rank;
    channel->startStep(0);
    ASSERT_TRUE(channel->issueGather(0, {{factors.data(), count * 4, ElementType::f32}}).isOk());
    ASSERT_TRUE(channel->issueGather(1, {{numbers.data(), 8, ElementType::i64}}).isOk());
    ASSERT_TRUE(channel->wait(0).isOk());
    ASSERT_TRUE(channel->wait(1).isOk());
    for (int r = 0; r < ranks; ++r) {
      const std::vector<float> wanted = valuesOf(count, r);
      for (std::int64_t i = 0; i < count; ++i)
        ASSERT_EQ(factors[static_cast<std::size_t>(r * count + i)],
                  rounded(wire, wanted[static_cast<std::size_t>(i)]));
      ASSERT_EQ(numbers[static_cast<std::size_t>(r)], 1000003 + r);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Types, Wire,
                         ::testing::Combine(::testing::Values(WirePrecision::bf16,
                                                              WirePrecision::fp16),
                                            ::testing::Values(2, 3, 5, 8)),
                         [](const auto &info) {
                           const bool isBf16 = std::get<0>(info.param) == WirePrecision::bf16;
                           return std::string(isBf16 ? "bf16" : "fp16") + "_on_" +
                                  std::to_string(std::get<1>(info.param));
                         });

// Servers add what arrives in f32 and round the sum once.
TEST(WireServers, AddInFloat) {
  constexpr std::size_t count = 50000;
  constexpr int workers = 3;
  std::vector<std::vector<float>> results(workers);
  runRanks(workers + 2, [&](int rank, Group &group) {
    RoundingTransport rounding(*group.transport(), WirePrecision::bf16);
    rounding.begin();
    if (rank >= workers) {
      auto server = std::move(*DedicatedServer::create(
          rounding, CommunicationThread::linkName(0) + "/parameter-server", {workers, 2}));
      ASSERT_TRUE(server->serve(count * 4, ElementType::f32).isOk());
      return;
    }
    auto channel = std::move(*CommunicationThread::create(
        *group.transport(), 0, {Scheme::parameterServer}, {1, 2}, {}, WirePrecision::bf16));
    std::vector<float> values = valuesOf(count, rank);
    channel->startStep(0);
    ASSERT_TRUE(channel->issue(0, values.data(), count * 4, ElementType::f32).isOk());
    ASSERT_TRUE(channel->wait(0).isOk());
    results[rank] = std::move(values);
  });
  std::vector<double> sums(count);
  for (int r = 0; r < workers; ++r) {
    const std::vector<float> values = valuesOf(count, r);
    for (std::size_t i = 0; i < count; ++i)
      sums[i] += rounded(WirePrecision::bf16, values[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_NEAR(results[0][i], sums[i], std::abs(sums[i]) * 0x1p-8 + 1e-6);
    ASSERT_EQ(results[1][i], results[0][i]);
    ASSERT_EQ(results[2][i], results[0][i]);
  }
}

} // namespace
} // namespace syncline
