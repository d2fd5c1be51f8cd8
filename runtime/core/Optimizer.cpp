// Finding the stretches of parameters that this rank updates, and their velocity.
#include "runtime/core/Optimizer.h"

namespace syncline::core {

namespace {

/// Whether a parameter belongs to the bucket.
bool holds(const Bucket &bucket, const StepTensor &tensor) {
  return tensor.space == Space::parameters && tensor.offset >= bucket.offset &&
         tensor.offset < bucket.offset + bucket.extent;
}

bool isSharded(const Bucket &bucket) { return bucket.scheme == Scheme::reduceScatter; }

} // namespace

Status Optimizer::checkTypes() const {
  for (const OperationInfo &operation : table.operations) {
    if (operation.kind != OperationKind::update && operation.kind != OperationKind::issue)
      continue;
    const Bucket &bucket = *table.findBucket(operation.bucket);
    if (operation.kind == OperationKind::issue && !isSharded(bucket))
      continue;
    for (const StepTensor &tensor : table.tensors)
      if (holds(bucket, tensor) && tensor.type != ElementType::f32)
        return Status::badInput("update: parameter '" + tensor.name +
                                "': expected element type f32, got " +
                                std::string(elementName(tensor.type)));
  }
  return Status::ok();
}

Status Optimizer::takeShard(int bucket, std::int64_t begin, std::int64_t bytes) {
  const Bucket *whole = table.findBucket(bucket);
  if (!whole || !isSharded(*whole) || begin < 0 || bytes < 0 || begin + bytes > whole->extent ||
      begin % 4 != 0 || bytes % 4 != 0)
    return Status::error(ErrorKind::internal, "bucket " + std::to_string(bucket) +
                                                  " has no part of " + std::to_string(bytes) +
                                                  " bytes at " + std::to_string(begin));
  shards[bucket] = {whole->offset + begin, bytes};
  return allocate();
}

Result<Optimizer::Update> Optimizer::shardUpdate(int bucket) const {
  auto found = shards.find(bucket);
  if (found == shards.end())
    return Status::error(ErrorKind::internal,
                         "no part of bucket " + std::to_string(bucket) + " is this rank's");
  return update(found->second.first, found->second.second);
}

Optimizer::Update Optimizer::update(std::int64_t begin, std::int64_t bytes) const {
  return {begin, bytes, velocityAt(begin, bytes), options};
}

Status Optimizer::allocate() {
  if (options.momentum == 0 || !isFinished)
    return Status::ok();
  bool fits = true;
  if (!hasWholeBuckets) {
    std::map<std::int64_t, std::int64_t> sharded; // extent by offset
    for (const Bucket &bucket : table.buckets)
      if (isSharded(bucket))
        sharded.emplace(bucket.offset, bucket.extent);
    sharded.emplace(table.spaceBytes(Space::parameters), 0);
    std::int64_t begin = 0;
    for (const auto &[offset, extent] : sharded) {
      fits = fits && add(begin, offset - begin);
      begin = offset + extent;
    }
    hasWholeBuckets = true;
  }
  for (const auto &[bucket, shard] : shards)
    if (!velocityAt(shard.first, shard.second))
      fits = fits && add(shard.first, shard.second);
  return fits ? Status::ok() : Status::badInput("not enough memory for the optimizer's velocity");
}

bool Optimizer::add(std::int64_t begin, std::int64_t bytes) {
  if (bytes <= 0)
    return true;
  stretches.push_back({begin, bytes, allocateVelocity(bytes)});
  return stretches.back().velocity != nullptr;
}

std::byte *Optimizer::velocityAt(std::int64_t begin, std::int64_t bytes) const {
  for (const Stretch &s : stretches)
    if (begin >= s.begin && begin + bytes <= s.begin + s.bytes)
      return s.velocity + (begin - s.begin);
  return nullptr;
}

Result<std::byte *> Optimizer::velocityOf(int parameter) const {
  if (!table.isDeclared({parameter}) || stretches.empty() ||
      table.tensors[parameter].space != Space::parameters)
    return Status::badInput("expected a parameter and an optimizer with momentum");
  const StepTensor &info = table.tensors[parameter];
  for (const Bucket &bucket : table.buckets)
    if (isSharded(bucket) && holds(bucket, info) && ranks > 1)
      return Status::badInput("parameter '" + info.name +
                              "': its velocity is spread over the ranks, for bucket " +
                              std::to_string(bucket.id) + " travels by '" +
                              std::string(schemeName(bucket.scheme)) + "'");
  if (std::byte *data = velocityAt(info.offset, info.reserved))
    return data;
  return Status::error(ErrorKind::internal, "parameter '" + info.name + "' has no velocity");
}

std::int64_t Optimizer::bytes() const {
  std::int64_t sum = 0;
  for (const Stretch &s : stretches)
    sum += s.bytes;
  return sum;
}

} // namespace syncline::core
