// What a tool needs to read our files: every dialect, with the interfaces our passes ask of them.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace syncline {

/// Dialects of Syncline, the MLIR dialects that bodies of fused loops are written in, and the rules
/// of differentiation.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace syncline
