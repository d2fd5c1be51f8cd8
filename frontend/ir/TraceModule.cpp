// A layer trace as IR.
#include "frontend/ir/TraceModule.h"

#include "ir/sync/Sync.h"

#include "mlir/IR/Builders.h"

#include <filesystem>

using namespace mlir;
using namespace syncline;

OwningOpRef<ModuleOp> frontend::traceModule(const files::LayerTrace &trace, const std::string &path,
                                            MLIRContext &context) {
  Location place = FileLineColLoc::get(&context, path, 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto op = builder.create<sync::TraceOp>(place, std::filesystem::path(path).stem().string(),
                                          trace.isOfStep);
  const auto secondsOrNone = [&](double seconds) {
    return seconds > 0 ? builder.getF64FloatAttr(seconds) : FloatAttr();
  };
  const auto nameOrNone = [&](const std::string &name) {
    return name.empty() ? StringAttr() : builder.getStringAttr(name);
  };
  builder.createBlock(&op.getBody());
  for (const files::TraceLayer &layer : trace.layers) {
    DenseI64ArrayAttr matmul;
    if (layer.factors)
      matmul = builder.getDenseI64ArrayAttr({layer.factors->m, layer.factors->n, layer.factors->k});
    sync::GatheredAttr gathered;
    if (layer.gathered)
      gathered = sync::GatheredAttr::get(&context, layer.gathered->scheme, layer.gathered->bytes);
    builder.create<sync::LayerOp>(
        place, builder.getStringAttr(layer.name), builder.getI64IntegerAttr(layer.bytes),
        builder.getF64FloatAttr(layer.forward), builder.getF64FloatAttr(layer.backward), matmul,
        secondsOrNone(layer.update), gathered, secondsOrNone(layer.reconstruct),
        nameOrNone(layer.carrier), nameOrNone(layer.reader));
  }
  return module;
}

Result<OwningOpRef<ModuleOp>> frontend::readTraceModule(const std::string &path,
                                                        MLIRContext &context) {
  SYNCLINE_TRY_GET(trace, files::readLayerTrace(path));
  return traceModule(*trace, path, context);
}
