// Reduce-scatter and all-gather by themselves, ranks as threads over loopback.
#include "Messages.h"
#include "Ranks.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Ring.h"

#include <algorithm>
#include <barrier>
#include <cstring>

namespace syncline {
namespace {

using namespace core;
using namespace transport;
using namespace syncline::testing;

/// Bytes [begin, end) of a message.
Message part(const Message &message, Range r) {
  return {message.begin() + static_cast<std::ptrdiff_t>(r.begin),
          message.begin() + static_cast<std::ptrdiff_t>(r.end)};
}

class RingHalves : public ::testing::TestWithParam<int> {};

// After the reduce-scatter each rank holds the sum of its block; the all-gather of these is the
// all-reduce's result, bit by bit.
TEST_P(RingHalves, MakeUpTheAllReduce) {
  const int ranks = GetParam();
  const std::size_t p = ranks;
  runRanks(ranks, [&](int rank, Group &group) {
    auto ring = std::move(*Ring::create(*group.transport(), "test"));
    int salt = 0;
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{1000},
                              std::size_t{400001}}) {
      const ElementType type = summable[(salt + ranks) % std::size(summable)];
      Message halves = randomMessage(type, count, rank, salt), whole = halves;
      ASSERT_TRUE(ring->reduceScatter(halves.data(), halves.size(), type).isOk());
      const Range own = ring->blockOf(rank, halves.size(), type);
      std::vector<double> sum = gatherAndSum(type, count, ranks, salt);
      const auto element = static_cast<std::ptrdiff_t>(elementBytes(type));
      EXPECT_EQ(difference(type, part(halves, own),
                           {sum.begin() + static_cast<std::ptrdiff_t>(own.begin) / element,
                            sum.begin() + static_cast<std::ptrdiff_t>(own.end) / element},
                           ranks),
                "");
      ASSERT_TRUE(ring->allGather(halves.data(), halves.size(), type).isOk());
      ASSERT_TRUE(ring->allReduce(whole.data(), whole.size(), type).isOk());
      EXPECT_TRUE(halves == whole) << count << " elements";
      ++salt;
    }
  });
}

// Blocks of any sizes, empty ones among them, reach everybody; what they hold does not matter.
TEST_P(RingHalves, GatherUnequalBlocks) {
  const int ranks = GetParam();
  for (std::size_t scale : {1ul, 1000ul, 200000ul}) {
    std::vector<std::size_t> sizes;
    Message wanted;
    for (int r = 0; r < ranks; ++r) {
      sizes.push_back(r % 3 == 1 ? 0 : scale * (r + 1) + r);
      Message block = randomMessage(ElementType::u8, sizes.back(), r, 7);
      wanted.insert(wanted.end(), block.begin(), block.end());
    }
    const Blocks blocks(sizes);
    runRanks(ranks, [&](int rank, Group &group) {
      auto ring = std::move(*Ring::create(*group.transport(), "test"));
      Message m(wanted.size());
      const Range own = blocks.block(rank);
      std::copy_n(wanted.begin() + static_cast<std::ptrdiff_t>(own.begin), own.size(),
                  m.begin() + static_cast<std::ptrdiff_t>(own.begin));
      Status s = ring->allGather(m.data(), sizes);
      ASSERT_TRUE(s.isOk()) << s.message();
      EXPECT_TRUE(m == wanted);
    });
  }
}
// Blocks that lie in several places, of unequal lengths, reach everybody as one message: packed
// when they are short, piece by piece when they are long.
TEST_P(RingHalves, GatherPlaces) {
  const int ranks = GetParam();
  const std::vector<std::vector<std::int64_t>> cases{
      {5}, {0, 12, 0}, {100, 7, 4000}, {40000, 3}, {1, 700001, 64, 262144}, {33000, 33000, 33000}};
  auto blockOf = [](std::size_t i, std::int64_t bytes, int rank) {
    return randomMessage(ElementType::u8, static_cast<std::size_t>(bytes), rank,
                         static_cast<int>(i));
  };
  runRanks(ranks, [&](int rank, Group &group) {
    auto ring = std::move(*Ring::create(*group.transport(), "test"));
    for (const std::vector<std::int64_t> &lengths : cases) {
      std::vector<Message> places;
      std::vector<GatherPart> parts;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        Message place(static_cast<std::size_t>(lengths[i] * ranks));
        const Message own = blockOf(i, lengths[i], rank);
        std::copy(own.begin(), own.end(), place.begin() + rank * lengths[i]);
        places.push_back(std::move(place));
      }
      for (std::size_t i = 0; i < lengths.size(); ++i)
        parts.push_back({places[i].data(), lengths[i]});
      const Traffic before = group.transport()->traffic();
      ASSERT_TRUE(ring->allGather(parts).isOk());
      const Traffic after = group.transport()->traffic();
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        sum += lengths[i];
        for (int r = 0; r < ranks; ++r) {
          const Message wanted = blockOf(i, lengths[i], r);
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), places[i].begin() + r * lengths[i]))
              << "place " << i << ", block of rank " << r;
        }
      }
      EXPECT_EQ(after.sent - before.sent, (ranks - 1) * sum);
      EXPECT_EQ(after.received - before.received, (ranks - 1) * sum);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingHalves, ::testing::Range(1, 10));

// A message of a little more than one loopback packet behind shorter ones goes out at once, instead
// of waiting 40 ms a round for an acknowledgement: see holdAtOnce() in TcpWire.cpp.
// No all-gather would take less than 40 ms. A busy machine has a quick one sooner or later.
TEST(Ring, LongerMessagesDoNotStall) {
  constexpr double quick = 0.02;
  std::barrier together(4);
  double fastest = 0; // of rank 0
  bool goesOn = false;
  runRanks(4, [&](int rank, Group &group) {
    auto ring = std::move(*Ring::create(*group.transport(), "test"));
    std::vector<std::byte> memory(4 * (4096 + 65536));
    for (std::int64_t bytes : {8832, 32768, 65536}) {
      const GatherPart parts[] = {{memory.data(), 4096}, {memory.data() + 4 * 4096, bytes}};
      const Deadline end = deadlineIn(test::patience);
      if (rank == 0)
        fastest = test::patience;
      for (bool isAgain = true; isAgain;) {
        for (int i = 0; i < 20; ++i) {
          const auto start = Clock::now();
          EXPECT_TRUE(ring->allGather(parts).isOk());
          if (rank == 0)
            fastest = std::min(fastest, secondsSince(start));
        }
        if (rank == 0)
          goesOn = fastest > quick && Clock::now() < end;
        together.arrive_and_wait();
        isAgain = goesOn;
        together.arrive_and_wait(); // before rank 0 decides anew
      }
      if (rank == 0) {
        EXPECT_LE(fastest, quick) << bytes;
      }
    }
  });
}

// A list of sizes for another number of ranks is our fault, said at once.
TEST(Ring, SizesForOtherRanks) {
  runRanks(2, [](int, Group &group) {
    auto ring = std::move(*Ring::create(*group.transport(), "test"));
    std::size_t sizes[] = {0, 0, 0};
    EXPECT_EQ(ring->allGather(nullptr, sizes).kind(), ErrorKind::internal);
  });
}

} // namespace
} // namespace syncline
