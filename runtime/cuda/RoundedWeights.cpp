// Which copies there are, and when they are rounded.
#include "runtime/cuda/RoundedWeights.h"

#include "runtime/cuda/Program.h"
#include "runtime/cuda/kernels/Kernels.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// A copy that no operation has read yet.
constexpr std::size_t neverMade = static_cast<std::size_t>(-1);

bool overlaps(std::int64_t begin, std::int64_t bytes, std::int64_t otherBegin,
              std::int64_t otherBytes) {
  return begin < otherBegin + otherBytes && otherBegin < begin + bytes;
}

bool overlaps(const core::Bucket &bucket, const core::StepTensor &tensor) {
  return overlaps(bucket.offset, bucket.extent, tensor.offset, tensor.reserved);
}

} // namespace

bool RoundedWeights::holds(Tensor tensor, const Layout &layout) const {
  const core::StepTensor &info = program.table.of(tensor);
  const Layout &own = program.placements[static_cast<std::size_t>(tensor.id)].layout;
  return info.space == Space::parameters && own.type == ElementType::f32 &&
         layout.type == ElementType::bf16 && own.isChannelsLast == layout.isChannelsLast &&
         info.offset % (4 * sizeof(float)) == 0; // as roundArrays() wants it
}

bool RoundedWeights::isUpdatedWhole(Tensor tensor) const {
  const core::StepTensor &info = program.table.of(tensor);
  return program.options.ranks == 1 ||
         std::ranges::none_of(program.table.buckets, [&](const core::Bucket &bucket) {
           return bucket.scheme == Scheme::reduceScatter && overlaps(bucket, info);
         });
}

std::size_t RoundedWeights::lastChange(Tensor tensor) const {
  const core::StepTensor &info = program.table.of(tensor);
  std::size_t last = changes.size();
  while (last > 0 &&
         !overlaps(changes[last - 1].first, changes[last - 1].second, info.offset, info.reserved))
    --last;
  return last;
}

std::function<void()> RoundedWeights::read(Tensor tensor) {
  auto weight = std::ranges::find(weights, tensor.id, [](const Weight &w) { return w.tensor.id; });
  if (weight == weights.end())
    weight = weights.insert(weight, {tensor, isUpdatedWhole(tensor), neverMade});
  const std::size_t change = lastChange(tensor);
  if (weight->isKept || weight->made == change)
    return nullptr;
  weight->made = change;
  for (const std::shared_ptr<Launch> &launch : launches)
    if (launch->made == change) {
      launch->tensors.push_back(tensor);
      return nullptr;
    }
  const auto launch = std::make_shared<Launch>(Launch{change, {tensor}});
  launches.push_back(launch);
  return [this, launch] { round(launch->tensors); };
}

/// Buckets that hold a weight belong to it whole, because an update writes copies for all of them.
std::pair<std::int64_t, std::int64_t> RoundedWeights::extent() const {
  if (weights.empty())
    return {0, 0};
  constexpr std::int64_t multiple = 512;
  std::int64_t begin = program.table.spaceBytes(Space::parameters), end = 0;
  const auto add = [&](std::int64_t offset, std::int64_t bytes) {
    begin = std::min(begin, offset);
    end = std::max(end, offset + bytes);
  };
  for (const Weight &weight : weights) {
    const core::StepTensor &info = program.table.of(weight.tensor);
    add(info.offset, info.reserved);
    for (const core::Bucket &bucket : program.table.buckets)
      if (overlaps(bucket, info))
        add(bucket.offset, bucket.extent);
  }
  begin -= begin % multiple;
  return {begin, end - begin};
}

void RoundedWeights::round(std::span<const Tensor> tensors) const {
  std::vector<RoundedArray> arrays;
  for (Tensor tensor : tensors)
    arrays.push_back({reinterpret_cast<const float *>(program.data(tensor)),
                      program.at<BFloat16>(program.roundedPlace(tensor)),
                      core::elementCount(program.table.of(tensor).shape)});
  SYNCLINE_CHECK(roundArrays(program.device.compute, arrays));
}

void RoundedWeights::refresh() {
  if (!isStale)
    return;
  std::vector<Tensor> all;
  for (const Weight &weight : weights)
    if (weight.isKept)
      all.push_back(weight.tensor);
  round(all);
  isStale = false;
}

void RoundedWeights::round(Tensor tensor) const {
  for (const Weight &weight : weights)
    if (weight.tensor.id == tensor.id && weight.isKept)
      round(std::span(&tensor, 1));
}

BFloat16 *RoundedWeights::updated(std::int64_t begin, std::int64_t bytes) const {
  const bool isAny = std::ranges::any_of(weights, [&](const Weight &weight) {
    const core::StepTensor &info = program.table.of(weight.tensor);
    return weight.isKept && overlaps(begin, bytes, info.offset, info.reserved);
  });
  return isAny ? program.at<BFloat16>({begin / 2, bytes / 2, Room::weights}) : nullptr;
}

} // namespace syncline::cuda
