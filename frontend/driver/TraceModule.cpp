// A layer trace as IR.
#include "frontend/driver/TraceModule.h"

#include "frontend/files/LayerTrace.h"
#include "ir/sync/Sync.h"

#include "mlir/IR/Builders.h"

#include <filesystem>

using namespace mlir;
using namespace syncline;

Result<OwningOpRef<ModuleOp>> driver::readTraceModule(const std::string &path,
                                                      MLIRContext &context) {
  Result<files::LayerTrace> trace = files::readLayerTrace(path);
  if (!trace)
    return trace.status();
  Location place = FileLineColLoc::get(&context, path, 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto op = builder.create<sync::TraceOp>(place, std::filesystem::path(path).stem().string());
  builder.createBlock(&op.getBody());
  for (const files::TraceLayer &layer : trace->layers) {
    DenseI64ArrayAttr matmul;
    if (layer.factors)
      matmul = builder.getDenseI64ArrayAttr({layer.factors->m, layer.factors->n, layer.factors->k});
    builder.create<sync::LayerOp>(
        place, builder.getStringAttr(layer.name), builder.getI64IntegerAttr(layer.bytes),
        builder.getF64FloatAttr(layer.forward), builder.getF64FloatAttr(layer.backward), matmul);
  }
  return module;
}
