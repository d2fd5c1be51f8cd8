// Batches of samples of several lengths, their padding, and formats that do not fit together.
#include "runtime/data/Lengths.h"

#include "runtime/data/Sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace syncline::data {
namespace {

SampleFormat formatOf(Shape input, Shape target, bool classes = true) {
  SampleFormat format;
  format.inputs.push_back({"ids", ElementType::i64, std::move(input)});
  format.targetShape = std::move(target);
  format.classes = classes;
  return format;
}

std::string refusalOf(std::vector<SampleFormat> formats) {
  const auto made = Lengths::create("seq", {8, 16}, std::move(formats));
  return made ? "accepted" : made.status().message();
}

TEST(Lengths, FindsTheDimensionsOfTheLength) {
  const auto lengths = Lengths::create(
      "seq", {8, 16}, {formatOf({4, 8, 8}, {4, 8}), formatOf({4, 16, 16}, {4, 16})});
  ASSERT_TRUE(lengths.isOk()) << lengths.status().message();
  EXPECT_EQ(lengths->ofInput(0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(lengths->ofTarget(), (std::vector<std::size_t>{1}));
  EXPECT_EQ(lengths->holding(1), 0U);
  EXPECT_EQ(lengths->holding(8), 0U);
  EXPECT_EQ(lengths->holding(9), 1U);
}

TEST(Lengths, RefusesFormatsThatDifferOtherwise) {
  EXPECT_EQ(refusalOf({formatOf({4, 9}, {4}), formatOf({4, 17}, {4})}),
            "the plans of 'seq' differ in input 'ids' by more than sizes of that dimension");
  EXPECT_EQ(refusalOf({formatOf({4, 8}, {4, 2}), formatOf({4, 16}, {4, 3})}),
            "the plans of 'seq' differ in the targets by more than sizes of that dimension");
  EXPECT_EQ(refusalOf({formatOf({4, 5}, {4}), formatOf({4, 5}, {4})}),
            "no input has the dimension 'seq'");
  EXPECT_EQ(refusalOf({formatOf({4, 8}, {4, 8}, false), formatOf({4, 16}, {4, 16}, false)}),
            "the targets have the dimension 'seq' and are no classes: nothing could pad them");
}

TEST(Lengths, CopiesWhatBothShapesHave) {
  const std::vector<std::int32_t> from{1, 2, 3, 4, 5, 6};
  std::vector<std::int32_t> to(8, 9);
  copyCorner(reinterpret_cast<const std::byte *>(from.data()), {1, 2, 3},
             reinterpret_cast<std::byte *>(to.data()), {1, 2, 4}, 4);
  EXPECT_EQ(to, (std::vector<std::int32_t>{1, 2, 3, 9, 4, 5, 6, 9}));
  std::vector<std::int32_t> cut(2);
  copyCorner(reinterpret_cast<const std::byte *>(from.data()), {2, 3},
             reinterpret_cast<std::byte *>(cut.data()), {2, 1}, 4);
  EXPECT_EQ(cut, (std::vector<std::int32_t>{1, 4}));
}

TEST(Lengths, DealsEachBatchOutWhenItIsFull) {
  const std::vector<std::uint8_t> lengths{0, 1, 0, 2, 1, 0, 0, 2, 0};
  std::vector<std::int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  const BatchesByLength dealt = dealOut(order, lengths, 2);
  EXPECT_EQ(dealt.samples, (std::vector<std::int64_t>{0, 2, 1, 4, 5, 6, 3, 7}));
  EXPECT_EQ(dealt.lengths, (std::vector<std::size_t>{0, 1, 0, 2}));
}

TEST(Lengths, RestsGoWithGreaterLengths) {
  const std::vector<std::uint8_t> lengths{0, 2, 1, 0, 0, 1};
  const BatchesByLength dealt = dealOut({0, 1, 2, 3, 4, 5}, lengths, 4);
  EXPECT_EQ(dealt.samples, (std::vector<std::int64_t>{0, 3, 4, 2}));
  EXPECT_EQ(dealt.lengths, (std::vector<std::size_t>{1}));
}

TEST(Lengths, EveryRankHasTheLengthOfTheStep) {
  std::vector<std::uint8_t> lengths;
  for (int i = 0; i < 103; ++i)
    lengths.push_back(static_cast<std::uint8_t>(i * i % 7 % 3));
  Sampler first(103, 2, 0, 5, true, 7, lengths), second(103, 2, 1, 5, true, 7, lengths);
  ASSERT_EQ(first.batchesPerEpoch(), 10);
  for (const std::int64_t epoch : {0, 1}) {
    std::set<std::int64_t> seen;
    for (std::int64_t step = 10 * epoch; step < 10 * (epoch + 1); ++step) {
      const Samples a = first.at(step), b = second.at(step);
      EXPECT_EQ(a.length, b.length);
      for (const Samples &samples : {a, b})
        for (const std::int64_t sample : samples.indices) {
          EXPECT_LE(lengths[static_cast<std::size_t>(sample)], samples.length);
          EXPECT_TRUE(seen.insert(sample).second);
        }
    }
    EXPECT_EQ(seen.size(), 100U);
  }
  EXPECT_NE(first.at(0).indices, first.at(10).indices); // each epoch is shuffled anew
}

} // namespace
} // namespace syncline::data
