// What a rank's device has to hold.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"

#include <cstdint>
#include <optional>

namespace syncline::plan {

/// The bytes that CUDA and its libraries take beside tensors: gpuAllowance where NCCL carries the
/// messages, else 0.
std::int64_t libraryBytes(cluster::SpecAttr spec);

/// The bytes of a rank of the program: its spaces, what exchanges, the optimizer and sums of
/// micro-batches keep, and libraryBytes(). SGD's velocity, which only runs with momentum have, is
/// not counted, nor are copies that a backend lays out for its kernels.
std::int64_t neededBytes(ProgramOp program, cluster::SpecAttr spec);

/// The memory that a plan needs, beside the device's.
struct RankMemory {
  std::int64_t needed = 0;
  std::optional<std::int64_t> size; ///< the device's, where the cluster states it
  /// Whether `needed` has activations. Of a plan without a step it has not: there it is parameters,
  /// gradients, the optimizer's moments and libraryBytes().
  bool hasActivations = false;

  /// Whether the device has too few bytes.
  bool isShort() const { return size && needed > *size; }
};

/// Precondition: the module has `cluster.spec`, and a program or a problem.
RankMemory rankMemory(mlir::ModuleOp plan);

} // namespace syncline::plan
