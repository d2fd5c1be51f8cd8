// The discardable attribute `cluster.provenance`. The driver sets it; codegen reads
// it, and planners that imitate systems on GPUs.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

namespace syncline::cluster {

/// A dictionary that says where the times of operations come from (C7). An entry is absent where it
/// is not known. `device` names the kind of device that the cluster's rates are from: a GPU by its
/// data sheet, or `processorKind`. `efficiency` is
/// the share of these rates that the device's kernels reach; #cluster.device already contains it.
/// `profile` names the file of measured times, and `threads`, an i64, is how many computed in each
/// rank as they were measured.
inline constexpr llvm::StringLiteral provenanceAttr = "cluster.provenance";
inline constexpr llvm::StringLiteral processorKind = "cpu";

/// Whether the provenance, which may be null, names a kind of GPU.
bool namesGpu(mlir::DictionaryAttr provenance);

} // namespace syncline::cluster
