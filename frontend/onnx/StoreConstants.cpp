// Moves large constants from the IR to the file of values.
#include "frontend/onnx/StoreConstants.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/Repeats.h"
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <memory>
#include <vector>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

constexpr std::int64_t largestInIr = 1024;

class Store {
public:
  Store(Block &block, WeightsFile &weights) : block(block), weights(weights) {
    for (Operation &op : block)
      if (auto name = op.getAttrOfType<StringAttr>("name"))
        taken.insert(name.getValue());
  }

  /// Replaces the constant where it is large.
  void move(nn::ConstantOp constant) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || elements.isSplat() || elements.getNumElements() <= largestInIr ||
        elementBytes(elementNumber(elements.getElementType())) == 0 ||
        elements.getElementType().isInteger(1))
      return;
    nn::StateOp &state = states[elements];
    if (!state)
      state = make(constant, elements);
    OpBuilder builder(constant);
    Value value = state;
    if (value.getType() != constant.getType()) {
      value = builder.create<nn::BroadcastOp>(constant.getLoc(), constant.getType(), value);
      if (Attribute layer = constant->getAttr(nn::layerAttr))
        value.getDefiningOp()->setAttr(nn::layerAttr, layer);
    }
    constant.getResult().replaceAllUsesWith(value);
    constant.erase();
  }

private:
  nn::StateOp make(nn::ConstantOp constant, DenseElementsAttr elements) {
    const int type = elementNumber(elements.getElementType());
    nn::Dims dims(elements.getType().getShape());
    std::vector<char> bytes(elements.getRawData().begin(), elements.getRawData().end());
    keepOneOfEqual(dims, bytes, elementBytes(type));
    auto proto = std::make_unique<onnx::TensorProto>();
    proto->set_data_type(type);
    proto->mutable_dims()->Add(dims.begin(), dims.end());
    proto->set_raw_data(bytes.data(), bytes.size());
    std::string name;
    do
      name = "constant/" + std::to_string(number++);
    while (!taken.insert(name).second);
    const TensorData data{proto.get(), type, dims, static_cast<std::int64_t>(bytes.size()), "", 0};
    OpBuilder builder(constant.getContext());
    builder.setInsertionPointAfter(&block.front());
    auto state = builder.create<nn::StateOp>(
        constant.getLoc(), RankedTensorType::get(dims, elements.getElementType()),
        builder.getStringAttr(name), builder.getI64IntegerAttr(weights.add(name, data)),
        nn::InitAttr(), builder.getUnitAttr());
    weights.keep(std::move(proto));
    return state;
  }

  Block &block;
  WeightsFile &weights;
  llvm::DenseMap<Attribute, nn::StateOp> states;
  llvm::StringSet<> taken;
  int number = 0;
};

/// Whether the values are known before the step: a constant's, or what is computed from constants.
bool isKnown(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nn::ConstantOp>(op))
    return true;
  if (auto state = dyn_cast_or_null<nn::StateOp>(op))
    return state.getFixed();
  return isa_and_nonnull<nn::BinaryOp>(op) && depth > 0 &&
         llvm::all_of(op->getOperands(), [&](Value x) { return isKnown(x, depth - 1); });
}

/// Whether the reader's result stays as it is where it reads `value` in place of this operand.
bool repeats(OpOperand &use, Value value) {
  auto reader = dyn_cast<nn::BinaryOp>(use.getOwner());
  if (!reader)
    return false;
  const Value other = reader->getOperand(1 - use.getOperandNumber());
  llvm::Expected<nn::Dims> dims =
      nn::broadcastShape(cast<RankedTensorType>(value.getType()).getShape(),
                         cast<RankedTensorType>(other.getType()).getShape());
  if (!dims) {
    llvm::consumeError(dims.takeError());
    return false;
  }
  return nn::DimsRef(*dims) == cast<RankedTensorType>(reader.getType()).getShape();
}

/// Lets elementwise operations repeat known values themselves.
void repeatInReaders(Block &block) {
  for (auto all : llvm::make_early_inc_range(block.getOps<nn::BroadcastOp>())) {
    if (!isKnown(all.getX()))
      continue;
    all.getY().replaceUsesWithIf(all.getX(),
                                 [&](OpOperand &use) { return repeats(use, all.getX()); });
    if (all->use_empty())
      all.erase();
  }
}

} // namespace

void frontend::storeLargeConstants(Block &block, WeightsFile &weights) {
  Store store(block, weights);
  for (auto constant : llvm::make_early_inc_range(block.getOps<nn::ConstantOp>()))
    store.move(constant);
  repeatInReaders(block);
}
