// How message times scatter: the discardable attribute `cluster.message_scatter` of a module (C7h).
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace syncline::cluster {

inline constexpr llvm::StringLiteral messageScatterAttr = "cluster.message_scatter";

/// How many times its cost a message takes, each number as often as any other. Empty where the
/// module does not say.
std::vector<double> messageScatterOf(mlir::ModuleOp module);

/// Precondition: the numbers follow C7h.
void setMessageScatter(mlir::ModuleOp module, llvm::ArrayRef<double> factors);

/// Whether the attribute follows C7h.
bool isMessageScatter(mlir::Attribute attribute);

} // namespace syncline::cluster
