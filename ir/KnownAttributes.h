// The trait of KnownAttributes.td: refuses attributes that neither the operation nor a dialect has.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace syncline::ir {

/// The dialects of this folder judge the attributes that begin with their names. Nobody would judge
/// an attribute with another name.
template <typename ConcreteOp>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    static constexpr llvm::StringLiteral dialects[] = {"nn", "sync", "plan", "cluster"};
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs()) {
      const auto [dialect, name] = attribute.getName().getValue().split('.');
      if (name.empty() || !llvm::is_contained(dialects, dialect))
        return op->emitOpError("has no attribute '") << attribute.getName().getValue() << "'";
    }
    return mlir::success();
  }
};

} // namespace syncline::ir
