// Checking and listing the declarations of generated code.
#include "runtime/core/StepTable.h"

#include <algorithm>

namespace syncline::core {

Tensor StepTable::declare(const TensorInfo &info) {
  if (hasFailed())
    return none;
  StepTensor tensor{std::string(info.name), info.space,    info.type, info.shape, info.offset,
                    info.reserved,          info.isRounded};
  const std::string what = "tensor '" + tensor.name + "'";
  if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](auto extent) { return extent < 1; }))
    return fail(ErrorKind::badInput, what + ": every dimension must be positive"), none;
  if (tensor.isRounded && (tensor.space != Space::arena || tensor.type != ElementType::f32))
    return fail(ErrorKind::badInput, what + ": only tensors of f32 in the arena are rounded"), none;
  const ElementType stored = tensor.isRounded ? ElementType::bf16 : tensor.type;
  const std::int64_t dense = elementCount(tensor.shape) * elementBytes(stored);
  tensor.reserved = std::max(tensor.reserved, dense);
  if (tensor.offset < 0 || tensor.offset % 64 != 0)
    return fail(ErrorKind::badInput, what + ": expected an offset that is a multiple of 64, got " +
                                         std::to_string(tensor.offset)),
           none;
  if (tensor.offset + tensor.reserved > sizes.of(tensor.space))
    return fail(ErrorKind::badInput,
                what + ": ends at byte " + std::to_string(tensor.offset + tensor.reserved) +
                    " of a space of " + std::to_string(sizes.of(tensor.space))),
           none;
  const int id = static_cast<int>(tensors.size());
  if (!byName.emplace(std::pair(tensor.space, tensor.name), id).second &&
      tensor.space != Space::arena)
    return fail(ErrorKind::badInput, what + " is declared twice"), none;
  if (tensor.space == Space::parameters)
    parameterAt.emplace(tensor.offset, id);
  if (tensor.space == Space::gradients)
    gradientAt.emplace(tensor.offset, id);
  tensors.push_back(std::move(tensor));
  return {id};
}

void StepTable::declareBucket(const BucketInfo &info) {
  if (hasFailed())
    return;
  const std::string what = "bucket " + std::to_string(info.id);
  if (findBucket(info.id))
    return fail(ErrorKind::badInput, what + " is declared twice");
  const Result<Scheme> scheme = readScheme(info.scheme);
  if (!scheme)
    return fail(scheme.status().kind(), what + ": " + scheme.status().message());
  const std::int64_t room = std::min(sizes.gradients, sizes.parameters);
  if (info.offset < 0 || info.extent < 0 || info.offset + info.extent > room)
    return fail(ErrorKind::badInput, what + ": ends at byte " +
                                         std::to_string(info.offset + info.extent) +
                                         " of a space of " + std::to_string(room));
  buckets.push_back({info.id, info.channel, *scheme, info.offset, info.extent});
}

OperationInfo &StepTable::append(std::string_view name, std::string_view layer,
                                 OperationKind kind) {
  OperationInfo operation;
  operation.name = name;
  operation.layer = layer;
  operation.phase = phase;
  operation.kind = kind;
  return operations.emplace_back(std::move(operation));
}

/// Whether a bucket of this scheme may have the operation.
static bool suits(OperationKind kind, Scheme scheme) {
  switch (kind) {
  case OperationKind::issue:
    return !isGathered(scheme);
  case OperationKind::gather:
    return isGathered(scheme);
  case OperationKind::allGather:
    return hasHalves(scheme);
  case OperationKind::update:
    return scheme != Scheme::reduceScatter;
  case OperationKind::wait:
  case OperationKind::compute:
    return true;
  }
  return true;
}

bool StepTable::appendBucketOperation(std::string_view name, OperationKind kind, int bucket) {
  if (hasFailed())
    return false;
  const Bucket *declared = findBucket(bucket);
  const std::string what = "'" + std::string(name) + "' names bucket " + std::to_string(bucket);
  if (!declared) {
    fail(ErrorKind::badInput, what + ", not declared");
    return false;
  }
  if (!suits(kind, declared->scheme)) {
    fail(ErrorKind::badInput,
         what + ", which travels by '" + std::string(schemeName(declared->scheme)) + "'");
    return false;
  }
  const bool isIssued = std::ranges::any_of(operations, [&](const OperationInfo &op) {
    return op.bucket == bucket &&
           (op.kind == OperationKind::gather || op.kind == OperationKind::issue);
  });
  if (kind == OperationKind::allGather && !isIssued) {
    fail(ErrorKind::badInput, what + " before it is issued");
    return false;
  }
  if (kind == OperationKind::wait && !isIssued)
    carried.insert(bucket);
  if (kind == OperationKind::wait && isGathered(declared->scheme) && !isIssued)
    carriedSection = bucket;
  else if (carriedSection == bucket)
    carriedSection = -1;
  append(name, {}, kind).bucket = bucket;
  return true;
}

void StepTable::fail(ErrorKind kind, std::string message) {
  if (!hasFailed())
    error = Status::error(kind, std::move(message));
}

int StepTable::find(Space space, std::string_view name) const {
  auto found = byName.find(std::pair(space, std::string(name)));
  return found == byName.end() ? -1 : found->second;
}

const Bucket *StepTable::findBucket(int id) const {
  auto found = std::find_if(buckets.begin(), buckets.end(),
                            [id](const Bucket &bucket) { return bucket.id == id; });
  return found == buckets.end() ? nullptr : &*found;
}

Tensor StepTable::counterpart(Tensor tensor) const {
  const StepTensor &self = of(tensor);
  if (self.space != Space::parameters && self.space != Space::gradients)
    return none;
  const auto &others = self.space == Space::parameters ? gradientAt : parameterAt;
  auto found = others.find(self.offset);
  if (found == others.end() || tensors[found->second].shape != self.shape)
    return none;
  return {found->second};
}

} // namespace syncline::core
