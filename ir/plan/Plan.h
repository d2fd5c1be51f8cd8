// The C++ interface of the plan dialect: include this to use its operations.
#pragma once

#include "ir/KnownAttributes.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/plan/PlanDialect.h.inc"
#include "ir/plan/PlanEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanOps.h.inc"

namespace syncline::plan {

/// Offsets in spaces, and the sizes that gradients reserve, are multiples of this many bytes, which
/// are a cache line and an AVX-512 vector.
inline constexpr std::int64_t alignment = 64;

/// The value of a program's `overlap` where messages may be waited for in the next step.
inline constexpr llvm::StringLiteral overlapStep = "step";

/// The bytes of a memref's or a tensor's dense elements. Precondition: the shape is static.
std::int64_t denseBytes(mlir::ShapedType type);

/// Whether the operation executes in a step, so that lifetimes count it: call, pointwise, loss,
/// issue, gather, all_gather, wait and update do.
bool executes(mlir::Operation *op);

/// The predicted seconds of the operation; 0 where it has none (P21).
double secondsOf(mlir::Operation *op);

/// The model's layer that the operation belongs to; empty where it is no call and no loop.
llvm::StringRef layerOf(mlir::Operation *op);

/// Whether the bucket's gradients are computed from gathered factors: its members do not travel.
bool travelsByFactors(BucketOp bucket);
/// Whether the bucket's message writes its parameters, so that no `plan.update` is needed.
bool updatesItself(BucketOp bucket);

/// The bytes that a rank holds beside the program's spaces for its exchanges. With 'diloco' these
/// are the common weights, their velocity where there is momentum, and the longest difference under
/// way. With ssp, asp and dssp they are a change under way, and the weights at a read and as they
/// are read. With EASGD they are what a rank sends and receives, and the centre where every rank
/// has it. A server in the rank's process has its shard besides.
std::int64_t exchangeBytes(ProgramOp program);

/// The smallest and the largest norm to which a program may clip.
inline constexpr double leastClipNorm = 1e-30, mostClipNorm = 1e30;

/// The norm to which the program clips; nothing where it does not clip.
std::optional<double> clipNormOf(ProgramOp program);

/// The micro-batches of a step.
std::int64_t microBatchesOf(ProgramOp program);

/// The bytes that a rank holds beside the program's spaces for the sums of the micro-batches before
/// the last one, as much as the gradients of all buckets; 0 for a program of one micro-batch.
std::int64_t sumsBytes(ProgramOp program);

/// Whether the tensor is the plan's own: its values are neither the model's nor changed.
bool isConstant(TensorOp tensor);

/// Bytes of a rounded element.
inline constexpr std::int64_t roundedBytes = 2;

/// The bytes of the tensor's dense elements as they are stored.
std::int64_t storedBytes(TensorOp tensor);

/// The name of an element type in plan.json: f32, f64, f16, bf16, i64, i32 or u8. Empty for any
/// other type.
llvm::StringRef elementName(mlir::Type type);

} // namespace syncline::plan
