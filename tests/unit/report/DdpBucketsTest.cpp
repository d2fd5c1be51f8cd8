// The entries of bucket_cap_mb_list.
#include "frontend/report/DdpBuckets.h"
#include "frontend/report/AdviceReport.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <sstream>

using namespace syncline::report;

namespace {

/// DistributedDataParallel's rule: a bucket closes with the gradient that brings it to its entry,
/// and the last entry repeats.
std::vector<ModuleBytes> cutByRule(const std::vector<std::int64_t> &gradients,
                                   const std::string &caps) {
  std::vector<double> entries;
  std::istringstream read(caps);
  for (std::string entry; std::getline(read, entry, ',');)
    entries.push_back(std::stod(entry));
  std::vector<ModuleBytes> buckets;
  std::int64_t bytes = 0;
  bool isOpen = false;
  for (std::int64_t gradient : gradients) {
    if (!isOpen)
      buckets.emplace_back();
    buckets.back().push_back(gradient);
    bytes += gradient;
    const double entry = entries[std::min(buckets.size(), entries.size()) - 1];
    isOpen = bytes < static_cast<std::int64_t>(entry * mebibyte);
    if (!isOpen)
      bytes = 0;
  }
  return buckets;
}

std::string capOf(const std::vector<ModuleBytes> &bucket) {
  return bucketCaps(BucketBytes{bucket});
}

/// At DistributedDataParallel's default size.
syncline::sweep::SweepPoint pointOf(double step, std::vector<std::vector<int>> messages) {
  syncline::sweep::SweepPoint point;
  point.value = 25 * mebibyte;
  point.step = step;
  point.messages = std::move(messages);
  return point;
}

} // namespace

TEST(DdpBuckets, EntriesHaveFewDigits) {
  EXPECT_EQ(capOf({{4 * mebibyte}, {6 * mebibyte}}), "10");
  EXPECT_EQ(capOf({{4 * mebibyte}, {6 * mebibyte + 1000}}), "10");
  EXPECT_EQ(capOf({{mebibyte / 4}, {mebibyte / 4}}), "0.5");
  EXPECT_EQ(capOf({ModuleBytes{64}}), "6e-05"); // at least 62 bytes
  // Not without the smaller one of the last module's gradients.
  EXPECT_EQ(capOf({{4 * mebibyte}, {6 * mebibyte, 4096}}), "10.003");
}

// The entries give back the buckets that they were made for by the rule of PyTorch's reducer, in
// whatever order it has the gradients of a module.
TEST(DdpBuckets, GiveBackTheBuckets) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    BucketBytes buckets(1 + random() % 6);
    std::vector<std::int64_t> gradients;
    std::vector<ModuleBytes> expected;
    for (std::vector<ModuleBytes> &bucket : buckets) {
      expected.emplace_back();
      for (std::size_t n = 1 + random() % 3; n > 0; --n) {
        ModuleBytes &module = bucket.emplace_back();
        for (std::size_t m = 1 + random() % 3; m > 0; --m)
          module.push_back(4 * (1 + static_cast<std::int64_t>(random() >> random() % 30)));
        ModuleBytes shuffled = module;
        std::ranges::shuffle(shuffled, random);
        expected.back().insert(expected.back().end(), shuffled.begin(), shuffled.end());
      }
      gradients.insert(gradients.end(), expected.back().begin(), expected.back().end());
    }
    const std::string caps = bucketCaps(buckets);
    EXPECT_EQ(cutByRule(gradients, caps), expected) << caps;
  }
}

// Nobody knows the gradients of a trace's layer: its bucket closes with the last of them, be it
// ever so short. Gradients that are known allow for an entry with fewer digits.
TEST(DdpBuckets, OfTracesHoldForAnyGradients) {
  DdpSteps steps{.sizes = {},
                 .list = pointOf(1, {{0}, {0}, {1}}),
                 .plan = pointOf(1, {}),
                 .modules = {{4 * mebibyte}, {6 * mebibyte + 1000}, {mebibyte}},
                 .hook = "allreduce_hook",
                 .sources = "",
                 .isTrace = false,
                 .hasFrozen = false};
  steps.sizes.points = {pointOf(2, {})};
  const std::string begin = "DistributedDataParallel(model, bucket_cap_mb_list=[";
  const auto listOf = [&](const std::string &text) {
    const std::size_t at = text.find(begin) + begin.size();
    return text.substr(at, text.find(']', at) - at);
  };
  EXPECT_EQ(listOf(ddpAdvice(steps)), "10, 1");
  EXPECT_EQ(ddpAdvice(steps).find("layer of the trace"), std::string::npos);
  steps.isTrace = true;
  const std::string text = ddpAdvice(steps), caps = listOf(text);
  EXPECT_NE(text.find("a layer of the trace counts as one module"), std::string::npos);
  const std::vector<ModuleBytes> expected{{4 * mebibyte, 6 * mebibyte + 996, 4}, {mebibyte - 4, 4}};
  EXPECT_EQ(cutByRule({4 * mebibyte, 6 * mebibyte + 996, 4, mebibyte - 4, 4}, caps), expected)
      << caps;
}

// What is not trained is no part of a bucket in PyTorch either, if it is told so.
TEST(DdpBuckets, NamesFrozenParameters) {
  DdpSteps steps{.sizes = {},
                 .list = pointOf(1, {{0}}),
                 .plan = pointOf(1, {}),
                 .modules = {{mebibyte}},
                 .hook = "allreduce_hook",
                 .sources = "",
                 .isTrace = false,
                 .hasFrozen = false};
  steps.sizes.points = {pointOf(1, {})};
  EXPECT_EQ(ddpAdvice(steps).find("requires_grad"), std::string::npos);
  steps.hasFrozen = true;
  EXPECT_NE(ddpAdvice(steps).find("requires_grad=False"), std::string::npos);
}
