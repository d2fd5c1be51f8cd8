// What a training step consists of, as plain values: operations, buckets, tensors, memory.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Step.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::core {

inline constexpr int spaceCount = 6; ///< number of values of Space

/// Bytes of each space, as plan.json's `memory` states them. Input and target have the dense bytes
/// of their tensors.
struct SpaceSizes {
  std::int64_t input = 0, target = 0, parameters = 0, gradients = 0, state = 0, arena = 0;
  std::int64_t of(Space space) const;
};

enum class OperationKind {
  compute, ///< run() computes it
  issue,   ///< the training loop hands the bucket to its channel
  gather,  ///< run() copies this rank's factors into place; then the loop does as for `issue`
  /// The training loop hands the bucket's second half to its channel, as `issue` did the first.
  allGather,
  wait,   ///< the training loop blocks until the bucket's collective is done
  update, ///< run() applies the optimizer to the bucket
};

/// One tensor that an all-gather completes, in the device's memory: the ranks' parts one behind the
/// other in rank order, all equally long and laid out alike.
struct GatherPart {
  void *data = nullptr;
  std::int64_t bytes = 0; ///< of one rank's part
  ElementType type = ElementType::f32;
};

struct OperationInfo {
  std::string name;  ///< the StepBuilder method, such as "convBackwardData"
  std::string layer; ///< the model's name; empty for operations of a bucket
  std::string phase; ///< "forward", "backward", "update"
  OperationKind kind = OperationKind::compute;
  int bucket = -1;            ///< for issue, gather, allGather, wait and update
  std::string implementation; ///< the kernel's name, for traces: "jit:avx512_core", "pointwise"
  int reorders = 0;           ///< operands whose layout is converted each time it runs
  /// Indices into tensors() of what the operation reads and writes.
  std::vector<int> operands, results;
  /// What a gather operation completes; this rank's parts are in place after run().
  std::vector<GatherPart> gathered;
};

/// BucketInfo with its scheme parsed.
struct Bucket {
  int id = -1;
  int channel = 0;
  Scheme scheme = Scheme::ring;
  std::int64_t offset = 0, extent = 0; ///< bytes, in Space::gradients and Space::parameters alike
};

/// TensorInfo with its name owned.
struct StepTensor {
  std::string name;
  Space space = Space::arena;
  ElementType type = ElementType::f32;
  Shape shape;
  std::int64_t offset = 0, reserved = 0;
  bool isRounded = false; ///< stored as bf16, in half of the dense bytes
};

/// Whether the tensors' places have a byte in common.
inline bool overlap(const StepTensor &a, const StepTensor &b) {
  return a.space == b.space && a.offset < b.offset + b.reserved && b.offset < a.offset + a.reserved;
}

/// A stretch of a space, in the device's memory.
struct Interval {
  void *data = nullptr;
  std::int64_t bytes = 0;
};

/// Dense bytes of one element.
std::int64_t elementBytes(ElementType type);
/// Number of elements of a tensor of this shape.
std::int64_t elementCount(const Shape &shape);
/// The type's name as plan.json spells it: "f32", "i64", ...
std::string_view elementName(ElementType type);

} // namespace syncline::core
