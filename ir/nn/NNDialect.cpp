// Registers the nn dialect, reads its discardable attributes and checks them.
#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace syncline::nn;

#include "ir/nn/NNDialect.cpp.inc"
#include "ir/nn/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/nn/NNAttrs.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/nn/NNAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/nn/NNOps.cpp.inc"
      >();
}

syncline::OptimizerKind syncline::nn::optimizerOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? op : op->getParentOfType<ModuleOp>().getOperation();
  auto name = module ? module->getAttrOfType<StringAttr>(optimizerAttr) : StringAttr();
  return (name ? parseOptimizer(name.getValue()) : std::nullopt).value_or(OptimizerKind::sgd);
}

StringRef syncline::nn::precisionOf(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(precisionAttr);
  return name ? name.getValue() : StringRef(precisions[0]);
}

/// NN50 to NN54: discardable attributes have the documented names and types.
LogicalResult NNDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == layerAttr && isa<StringAttr>(attribute.getValue()))
    return success();
  if (name == backwardAttr && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (name == secondsAttr) {
    auto seconds = dyn_cast<FloatAttr>(attribute.getValue());
    if (seconds && seconds.getType().isF64() && seconds.getValueAsDouble() >= 0)
      return success();
  }
  if (name == optimizerAttr) {
    auto optimizer = dyn_cast<StringAttr>(attribute.getValue());
    if (isa<ModuleOp>(op) && optimizer && parseOptimizer(optimizer.getValue()))
      return success();
    return op->emitError("NN51: expected 'nn.optimizer' on a module, as sgd, adam, adamw or "
                         "lamb, got ")
           << attribute.getValue();
  }
  if (name == precisionAttr) {
    auto precision = dyn_cast<StringAttr>(attribute.getValue());
    if (isa<ModuleOp>(op) && precision && llvm::is_contained(precisions, precision.getValue()))
      return success();
    return op->emitError(
               "NN53: expected 'nn.precision' on a module, as fp32, tf32, bf16 or fp16, got ")
           << attribute.getValue();
  }
  if (name == recomputedAttr) {
    if (isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError("NN54: expected 'nn.recomputed' as a unit, got ") << attribute.getValue();
  }
  if (name == recomputationAttr) {
    auto parts = dyn_cast<DictionaryAttr>(attribute.getValue());
    const ArrayAttr blocks = parts ? blocksOf(parts) : ArrayAttr();
    const IntegerAttr freed = parts ? freedOf(parts) : IntegerAttr();
    const IntegerAttr asked = parts ? askedOf(parts) : IntegerAttr();
    if (blocks && freed && parts.size() == (asked ? 3 : 2) && freed.getType().isInteger(64) &&
        (!asked || (asked.getType().isInteger(64) && asked.getInt() > 0)) &&
        llvm::all_of(blocks, [](Attribute block) { return isa<StringAttr>(block); }))
      return success();
    return op->emitError("NN54: expected 'nn.recomputation' with 'blocks' (strings), 'freed' (i64) "
                         "and perhaps 'asked' (i64, above 0), got ")
           << attribute.getValue();
  }
  return op->emitError("NN50: expected 'nn.layer' (string), 'nn.backward' (unit) or 'nn.seconds' "
                       "(f64, not negative), got '")
         << name << "' = " << attribute.getValue();
}
