// Finds short numbers between the bytes that must not close a bucket and those that must.
#include "frontend/report/DdpBuckets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace syncline::report {

namespace {

/// The shortest text that is read as this double.
std::string exactText(double value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// What PyTorch makes of an entry.
std::int64_t bytesOfCap(double cap) { return static_cast<std::int64_t>(cap * mebibyte); }

/// An entry above `least` and up to `most` bytes.
std::string cap(std::int64_t least, std::int64_t most) {
  for (double scale = 1; scale <= 1e9; scale *= 10) {
    const double rounded = std::floor(static_cast<double>(most) / mebibyte * scale) / scale;
    if (bytesOfCap(rounded) > least)
      return exactText(rounded);
  }
  return exactText(static_cast<double>(most) / mebibyte);
}

std::int64_t sumOf(const std::vector<ModuleBytes> &bucket) {
  std::int64_t sum = 0;
  for (const ModuleBytes &module : bucket)
    sum = std::accumulate(module.begin(), module.end(), sum);
  return sum;
}

} // namespace

std::string bucketCaps(const BucketBytes &buckets) {
  std::string text;
  for (const std::vector<ModuleBytes> &bucket : buckets) {
    const std::int64_t bytes = sumOf(bucket), least = *std::ranges::min_element(bucket.back());
    text += (text.empty() ? "" : ", ") + cap(bytes - least, bytes);
  }
  return text;
}

std::string bucketCheck(const BucketBytes &buckets, const std::string &hook) {
  std::string expected;
  for (const std::vector<ModuleBytes> &bucket : buckets)
    expected += (expected.empty() ? "" : ", ") + std::to_string(sumOf(bucket));
  return "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
         "expected, sizes = [" +
         expected +
         "], []\n"
         "def record(group, bucket):\n"
         "    sizes.append(bucket.buffer().numel() * bucket.buffer().element_size())\n"
         "    return default_hooks." +
         hook +
         "(group, bucket)\n"
         "model.register_comm_hook(None, record)  # before the first step\n"
         "# and behind a few steps:\n"
         "last = sizes[-len(expected):]\n"
         "print(\"DDP's buckets are the plan's\" if last == expected else f\"other buckets: "
         "{last}\")\n";
}

} // namespace syncline::report
