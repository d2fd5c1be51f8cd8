// The trait of KnownAttributes.td: refuses attributes that neither the operation nor a dialect has.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace syncline::ir {

/// A dialect judges the attributes that begin with its name. No dialect judges any others.
template <typename ConcreteOp>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs())
      if (!attribute.getNameDialect())
        return op->emitOpError("has no attribute '") << attribute.getName().getValue() << "'";
    return mlir::success();
  }
};

} // namespace syncline::ir
