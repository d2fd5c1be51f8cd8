// The C++ interface of the cluster dialect: include this to use its attributes.
#pragma once

#include "ir/cluster/Real.h"
#include "ir/cluster/Scheme.h"
#include "syncline/WirePrecision.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

#include "ir/cluster/ClusterDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/cluster/ClusterAttrs.h.inc"

namespace syncline::cluster {

/// The attributes of a module, which the driver sets (C7).
inline constexpr llvm::StringLiteral specAttr = "cluster.spec";
inline constexpr auto profileAttr = ClusterDialect::ProfileAttrHelper::getNameStr();
inline constexpr auto updateAttr = ClusterDialect::UpdateAttrHelper::getNameStr();
inline constexpr auto overheadAttr = ClusterDialect::OverheadAttrHelper::getNameStr();
inline constexpr auto scatterAttr = ClusterDialect::ScatterAttrHelper::getNameStr();
inline constexpr auto provenanceAttr = ClusterDialect::ProvenanceAttrHelper::getNameStr();
inline constexpr auto wireAttr = ClusterDialect::WireAttrHelper::getNameStr();

/// The device that a provenance names where the cluster's rates are a processor's.
inline constexpr llvm::StringLiteral processorKind = "cpu";

/// Whether the provenance, which may be null, names a kind of GPU.
bool namesGpu(mlir::DictionaryAttr provenance);

/// The type of gradients in messages of the module that is `op` or around it: fp32 unless stated.
WirePrecision wireOf(mlir::Operation *op);

/// Whether `attr` gives the time of a collective, as a formula, a line or a table.
inline bool isCost(mlir::Attribute attr) {
  return attr && llvm::isa<FormulaAttr, AffineAttr, TableAttr>(attr);
}

/// The spec where NCCL carries the messages, or where Syncline's own transport does.
SpecAttr withNccl(SpecAttr spec, bool nccl);

/// Whose kernels a step has (C16): PyTorch's eager ones, those with channels first in every
/// precision, fused ones, or tuned ones.
inline constexpr llvm::StringLiteral allLikes[] = {"pytorch", "pytorch-nchw", "compiled", "best"};
/// Among the numbers of kernels, how many times as long they take on this node; 1 where absent.
inline constexpr llvm::StringLiteral slowdownNumber = "slowdown";

/// The largest interference that a spec may have (C15).
inline constexpr double maxInterference = 1000;

/// The factor on the time of a rank's operations while a message is under way on one of its
/// channels. It is at least 1, and 1 where the spec does not give it.
double interference(SpecAttr spec);

/// This factor beside messages of the scheme. That of both classes where they are equal.
double interference(SpecAttr spec, Scheme scheme);

/// The factors beside messages of the scheme by class of operation (SPEC.md, "Interference").
struct ClassFactors {
  double products, memory;
};
ClassFactors interferenceByClass(SpecAttr spec, Scheme scheme);

/// How many times as long each of two messages takes while both are under way, where messages take
/// their stated costs. Without a value in the spec it is 2: two at once take as long as one after
/// the other.
double messageInterference(SpecAttr spec);

// Every step waits for the slowest node. These functions give the values that hold for the cluster
// as a whole.

/// The largest slowdown of the cluster's nodes.
double slowdown(SpecAttr spec);
/// The device of the slowest node: its rates are divided by the largest slowdown, its overhead is
/// multiplied by it.
DeviceAttr slowestDevice(SpecAttr spec);
/// The link with the largest alpha, beta and gamma of all nodes; null where the spec has no link.
LinkAttr slowestLink(SpecAttr spec);

} // namespace syncline::cluster
