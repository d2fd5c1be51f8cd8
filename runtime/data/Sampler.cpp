// Samples dealt out to ranks and steps.
#include "runtime/data/Sampler.h"

#include "runtime/data/Lengths.h"
#include "runtime/data/RandomStream.h"

#include <numeric>
#include <string>
#include <utility>

namespace syncline::data {

Sampler::Sampler(std::int64_t samples, const BatchShare &share, bool shuffle, std::uint64_t seed,
                 std::vector<std::uint8_t> lengths)
    : samples(samples), share(share), batches(samples / share.all), shuffle(shuffle), seed(seed),
      lengths(std::move(lengths)), order(static_cast<std::size_t>(samples)) {
  std::iota(order.begin(), order.end(), 0);
}

void Sampler::beginEpoch(std::int64_t number) {
  epoch = number;
  if (!shuffle && !(lengths.empty() || batchLengths.empty()))
    return; // each epoch's order is the same
  if (shuffle || !lengths.empty()) {
    order.resize(static_cast<std::size_t>(samples));
    std::iota(order.begin(), order.end(), 0);
  }
  if (shuffle) {
    RandomStream random(seed, "shuffle " + std::to_string(number));
    for (std::int64_t i = samples - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i, i + 1)]);
  }
  if (lengths.empty())
    return;
  BatchesByLength dealt = dealOut(order, lengths, share.all);
  order = std::move(dealt.samples);
  batchLengths = std::move(dealt.lengths);
}

Samples Sampler::at(std::int64_t step) {
  const std::lock_guard lock(mutex);
  if (step / batches != epoch)
    beginEpoch(step / batches);
  const auto first = order.begin() + step % batches * share.all + share.first;
  const auto number = static_cast<std::size_t>(step % batches);
  return {epoch, {first, first + share.count}, batchLengths.empty() ? 0 : batchLengths[number]};
}

} // namespace syncline::data
