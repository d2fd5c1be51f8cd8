// Verifies the dialect's discardable attributes, which all stand on a module: C7.
#include "ir/cluster/Cluster.h"
#include "ir/cluster/MessageScatter.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace syncline::cluster;

/// Whether the attribute is an f64 that is finite and not negative.
static bool isTime(Attribute attribute) {
  auto rate = llvm::dyn_cast<FloatAttr>(attribute);
  return rate && rate.getType().isF64() && rate.getValue().isFinite() &&
         !rate.getValue().isNegative();
}

/// Whether the attribute is one factor above 0 and up to 1000 for each of as many steps of every
/// rank, of one rank and one step at least.
static bool isScatter(Attribute attribute) {
  auto ranks = llvm::dyn_cast<ArrayAttr>(attribute);
  if (!ranks || ranks.empty() || !isa<ArrayAttr>(ranks[0]))
    return false;
  const size_t steps = cast<ArrayAttr>(ranks[0]).size();
  return steps > 0 && llvm::all_of(ranks, [&](Attribute rank) {
           auto factors = llvm::dyn_cast<ArrayAttr>(rank);
           return factors && factors.size() == steps && llvm::all_of(factors, [](Attribute step) {
                    auto factor = llvm::dyn_cast<FloatAttr>(step);
                    return factor && factor.getType().isF64() && factor.getValueAsDouble() > 0 &&
                           factor.getValueAsDouble() <= 1000;
                  });
         });
}

/// Whether the attribute has the entries of C7e, and no others.
static bool isProvenance(Attribute attribute) {
  auto entries = llvm::dyn_cast<DictionaryAttr>(attribute);
  return entries && llvm::all_of(entries, [](NamedAttribute entry) {
           if (entry.getName() == "threads") {
             auto count = llvm::dyn_cast<IntegerAttr>(entry.getValue());
             return count && count.getType().isInteger(64) && count.getInt() > 0;
           }
           if (entry.getName() != "efficiency")
             return (entry.getName() == "device" || entry.getName() == "profile") &&
                    isa<StringAttr>(entry.getValue());
           auto share = llvm::dyn_cast<FloatAttr>(entry.getValue());
           return share && share.getType().isF64() && share.getValueAsDouble() > 0 &&
                  share.getValueAsDouble() <= 1;
         });
}

/// Whether the attribute names a type in which gradients travel.
static bool isWire(Attribute attribute) {
  auto name = llvm::dyn_cast<StringAttr>(attribute);
  return name && syncline::parseWire(name.getValue());
}

bool syncline::cluster::namesGpu(DictionaryAttr provenance) {
  const auto kind = provenance ? provenance.getAs<StringAttr>("device") : StringAttr();
  return kind && !kind.getValue().starts_with(processorKind);
}

syncline::WirePrecision syncline::cluster::wireOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? op : op->getParentOfType<ModuleOp>().getOperation();
  auto name = module ? module->getAttrOfType<StringAttr>(wireAttr) : StringAttr();
  return (name ? parseWire(name.getValue()) : std::nullopt).value_or(WirePrecision::fp32);
}

LogicalResult ClusterDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (!isa<ModuleOp>(op))
    return op->emitError("C7: expected '")
           << attribute.getName().getValue() << "' on a module, got it here";
  if (attribute.getName() == specAttr && isa<SpecAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == profileAttr)
    if (auto times = llvm::dyn_cast<DictionaryAttr>(attribute.getValue()))
      if (llvm::all_of(times,
                       [](NamedAttribute entry) { return isa<TimesAttr>(entry.getValue()); }))
        return success();
  if (attribute.getName() == updateAttr && isTime(attribute.getValue()))
    return success();
  if (attribute.getName() == overheadAttr && isTime(attribute.getValue()))
    return success();
  if (attribute.getName() == scatterAttr && isScatter(attribute.getValue()))
    return success();
  if (attribute.getName() == messageScatterAttr && isMessageScatter(attribute.getValue()))
    return success();
  if (attribute.getName() == provenanceAttr && isProvenance(attribute.getValue()))
    return success();
  if (attribute.getName() == wireAttr && isWire(attribute.getValue()))
    return success();
  return op->emitError(
             "C7: expected 'cluster.spec' = #cluster.spec, 'cluster.profile' = a "
             "dictionary of #cluster.times, 'cluster.update' or 'cluster.overhead' = an "
             "f64 of seconds, 'cluster.scatter' = as many factors of every rank, "
             "'cluster.message_scatter' = factors of messages, "
             "'cluster.provenance' = a dictionary of device, efficiency, profile and threads, or "
             "'cluster.wire' = fp32, bf16 or fp16, got '")
         << attribute.getName().getValue() << "' = " << attribute.getValue();
}
