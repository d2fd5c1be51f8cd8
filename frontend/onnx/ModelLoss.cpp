// Builds the loss of a model that computes it.
#include "frontend/onnx/ModelLoss.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

Status frontend::attachModelLoss(ImportState &state) {
  const std::string &name = state.options.loss.output;
  GraphValues &values = state.values;
  Value loss = values.tensor(name);
  if (!values.status)
    return values.status;
  if (!loss || !values.isBatched(name))
    return Status::badInput("output '" + name + "' does not depend on the input");
  if (values.isWhole(name) || !isa<FloatType>(elementOf(loss)))
    return Status::badInput("output '" + name + "' is not floating-point");
  if (nn::elementCount(shapeOf(loss)) != 1)
    return Status::badInput("output '" + name + "' of shape " + nn::toString(shapeOf(loss)) +
                            ": expected one element, the loss of the batch");
  OpBuilder &builder = state.builder;
  if (rankOf(loss) > 0) {
    auto scalar = RankedTensorType::get({}, elementOf(loss));
    auto reshaped = builder.create<nn::ReshapeOp>(loss.getLoc(), scalar, loss);
    reshaped->setAttr(nn::layerAttr, builder.getStringAttr("loss"));
    loss = reshaped;
  }
  builder.create<nn::LossOp>(loss.getLoc(), loss);
  return Status::ok();
}
