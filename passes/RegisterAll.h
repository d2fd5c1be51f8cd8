// Registers every dialect that a tool needs to read our files, with the interfaces that our
// passes use.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace syncline {

/// Registers the dialects of Syncline, the MLIR dialects of fused loops' bodies, and the rules
/// of differentiation.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace syncline
