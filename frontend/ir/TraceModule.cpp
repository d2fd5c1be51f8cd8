// A layer trace as IR.
#include "frontend/ir/TraceModule.h"

#include "ir/sync/GatheredAttr.h"
#include "ir/sync/Sync.h"
#include "ir/sync/UpdateAttr.h"

#include "mlir/IR/Builders.h"

#include <filesystem>

using namespace mlir;
using namespace syncline;

static DictionaryAttr gatheredForm(const files::GatheredForm &form, OpBuilder &builder) {
  const NamedAttribute fields[] = {
      builder.getNamedAttr(sync::gatheredScheme, builder.getStringAttr(schemeName(form.scheme))),
      builder.getNamedAttr(sync::gatheredBytes, builder.getI64IntegerAttr(form.bytes))};
  return builder.getDictionaryAttr(fields);
}

OwningOpRef<ModuleOp> frontend::traceModule(const files::LayerTrace &trace, const std::string &path,
                                            MLIRContext &context) {
  Location place = FileLineColLoc::get(&context, path, 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto op = builder.create<sync::TraceOp>(place, std::filesystem::path(path).stem().string());
  if (trace.isOfStep)
    op->setAttr(sync::ofStepAttr, builder.getUnitAttr());
  builder.createBlock(&op.getBody());
  for (const files::TraceLayer &layer : trace.layers) {
    DenseI64ArrayAttr matmul;
    if (layer.factors)
      matmul = builder.getDenseI64ArrayAttr({layer.factors->m, layer.factors->n, layer.factors->k});
    auto made = builder.create<sync::LayerOp>(
        place, builder.getStringAttr(layer.name), builder.getI64IntegerAttr(layer.bytes),
        builder.getF64FloatAttr(layer.forward), builder.getF64FloatAttr(layer.backward), matmul);
    if (layer.update > 0)
      made->setAttr(sync::updateAttr, builder.getF64FloatAttr(layer.update));
    if (layer.gathered)
      made->setAttr(sync::gatheredAttr, gatheredForm(*layer.gathered, builder));
    if (layer.reconstruct > 0)
      made->setAttr(sync::reconstructAttr, builder.getF64FloatAttr(layer.reconstruct));
    if (!layer.carrier.empty())
      made->setAttr(sync::carrierAttr, builder.getStringAttr(layer.carrier));
  }
  return module;
}

Result<OwningOpRef<ModuleOp>> frontend::readTraceModule(const std::string &path,
                                                        MLIRContext &context) {
  Result<files::LayerTrace> trace = files::readLayerTrace(path);
  if (!trace)
    return trace.status();
  return traceModule(*trace, path, context);
}
