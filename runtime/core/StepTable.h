// Bookkeeping for every backend's StepBuilder: declared tensors and buckets, the list of
// operations, the current phase, and the first error.
#pragma once

#include "runtime/core/StepTypes.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace syncline::core {

class StepTable {
public:
  explicit StepTable(const SpaceSizes &sizes) : sizes(sizes) {}

  /// Declares a tensor that lies inside its space, aligned, under a new name. Otherwise returns an
  /// invalid handle and keeps a sticky error.
  Tensor declare(const TensorInfo &info);
  /// Checks that the bucket lies inside parameters and gradients, that its number is new, and
  /// that its scheme exists.
  void declareBucket(const BucketInfo &info);
  void setPhase(std::string_view name) { phase = name; }

  /// Appends an operation; the caller fills in what it learns while preparing it.
  OperationInfo &append(std::string_view name, std::string_view layer, OperationKind kind);
  /// Appends an operation of a bucket. Returns false, with a sticky error, when the bucket is not
  /// declared or its scheme does not allow the operation.
  bool appendBucketOperation(std::string_view name, OperationKind kind, int bucket);
  /// Whether operations now compute from factors that the step before has gathered: the bucket has
  /// been waited for, but neither gathered in this step nor updated.
  bool isInCarriedSection() const { return carriedSection >= 0; }
  /// Whether a wait stands before its bucket's issue, for the message of the step before.
  bool carries() const { return !carried.empty(); }
  /// Whether that is so of this bucket.
  bool isCarried(int bucket) const { return carried.contains(bucket); }

  /// Keeps the first error.
  void fail(ErrorKind kind, std::string message);
  bool hasFailed() const { return !error.isOk(); }
  const Status &status() const { return error; }

  bool isDeclared(Tensor tensor) const {
    return tensor.id >= 0 && tensor.id < static_cast<int>(tensors.size());
  }
  const StepTensor &of(Tensor tensor) const { return tensors[tensor.id]; }
  int find(Space space, std::string_view name) const;
  const Bucket *findBucket(int id) const;
  std::int64_t spaceBytes(Space space) const { return sizes.of(space); }
  /// The gradient of a parameter, or the parameter of a gradient: the tensor with the same offset
  /// and shape. Invalid for all other tensors, and for a parameter whose gradient is not declared.
  Tensor counterpart(Tensor tensor) const;

  std::vector<StepTensor> tensors;
  std::vector<Bucket> buckets;
  std::vector<OperationInfo> operations;

private:
  SpaceSizes sizes;
  std::string phase = "forward";
  int carriedSection = -1; ///< its bucket, or -1
  std::set<int> carried;   ///< buckets with a wait before their issue
  Status error;
  std::map<std::pair<Space, std::string>, int, std::less<>> byName;
  std::map<std::int64_t, int> parameterAt, gradientAt; ///< by offset
};

} // namespace syncline::core
