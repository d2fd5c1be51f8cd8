// Finding the memory that a step writes before it reads.
#include "runtime/core/UnwrittenMemory.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

namespace syncline::core {

namespace {

/// The buckets whose messages outlive their step: the next step waits for them.
std::vector<const Bucket *> carriedBuckets(const StepTable &table) {
  std::vector<const Bucket *> carried;
  std::set<int> issued;
  for (const OperationInfo &operation : table.operations)
    if (operation.kind == OperationKind::issue || operation.kind == OperationKind::gather)
      issued.insert(operation.bucket);
    else if (operation.kind == OperationKind::wait && !issued.contains(operation.bucket))
      carried.push_back(table.findBucket(operation.bucket));
  return carried;
}

/// Joins ranges that touch or overlap.
std::vector<SpaceRange> joined(std::vector<SpaceRange> ranges) {
  std::ranges::sort(ranges, {}, [](const SpaceRange &range) {
    return std::pair(static_cast<int>(range.space), range.offset);
  });
  std::vector<SpaceRange> all;
  for (const SpaceRange &range : ranges) {
    const bool touches = !all.empty() && all.back().space == range.space &&
                         range.offset <= all.back().offset + all.back().bytes;
    if (!touches)
      all.push_back(range);
    else
      all.back().bytes = std::max(all.back().bytes, range.offset + range.bytes - all.back().offset);
  }
  return all;
}

} // namespace

bool fillsUnwritten() {
  const char *value = std::getenv("SYNCLINE_FILL_NAN");
  return value && *value && std::string_view(value) != "0";
}

std::vector<SpaceRange> unwrittenRanges(const StepTable &table) {
  const std::vector<const Bucket *> carried = carriedBuckets(table);
  const bool hasFactors =
      std::ranges::any_of(carried, [](const Bucket *bucket) { return isGathered(bucket->scheme); });
  const auto isCarried = [&](const StepTensor &tensor) {
    return std::ranges::any_of(carried, [&](const Bucket *bucket) {
      return tensor.offset >= bucket->offset && tensor.offset < bucket->offset + bucket->extent;
    });
  };
  std::vector<SpaceRange> ranges;
  for (const StepTensor &tensor : table.tensors)
    if (tensor.space == Space::arena && !hasFactors) // else factors of the step before are there
      ranges.push_back({tensor.space, tensor.offset, tensor.reserved});
    else if (tensor.space == Space::gradients && !isCarried(tensor))
      ranges.push_back(
          {tensor.space, tensor.offset, elementCount(tensor.shape) * elementBytes(tensor.type)});
  return joined(std::move(ranges));
}

} // namespace syncline::core
