// Counts the operations of the model for which a profile has times.
#include "codegen/json/ProvenanceJson.h"

#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

namespace {

/// The layers that take time, each with whether it has a backward pass. Operations that compute
/// gradients from gathered factors count as backward pass.
std::map<StringRef, bool> timedLayers(plan::ProgramOp program) {
  std::map<StringRef, bool> layers;
  bool isForward = true;
  for (Operation &op : program.getBody().front()) {
    if (auto marker = dyn_cast<plan::PhaseOp>(op))
      isForward = marker.getPhase() == plan::Phase::forward;
    else if (const StringRef layer = plan::layerOf(&op); !layer.empty() && plan::secondsOf(&op) > 0)
      layers[layer] |= !isForward;
  }
  return layers;
}

std::size_t measuredOf(const std::map<StringRef, bool> &layers, DictionaryAttr profile) {
  std::size_t measured = 0;
  for (const auto &[layer, hasBackward] : layers) {
    auto times = profile ? profile.getAs<cluster::TimesAttr>(layer) : cluster::TimesAttr();
    measured += times && (!hasBackward || times.getBackward()) ? 1 : 0;
  }
  return measured;
}

Json textOf(DictionaryAttr entries, StringRef key) {
  auto text = entries ? entries.getAs<StringAttr>(key) : StringAttr();
  return text ? Json(text.getValue().str()) : Json(nullptr);
}

} // namespace

Json provenanceJson(ModuleOp module, bool isModel) {
  auto entries = module->getAttrOfType<DictionaryAttr>(cluster::provenanceAttr);
  auto profile = module->getAttrOfType<DictionaryAttr>(cluster::profileAttr);
  auto share = entries ? entries.getAs<FloatAttr>("efficiency") : FloatAttr();
  Json json = {{"times", profile ? "profile" : "rates"},
               {"profile", textOf(entries, "profile")},
               {"operations", 0},
               {"measured", 0},
               {"device", textOf(entries, "device")},
               {"efficiency", share ? share.getValueAsDouble() : 1.0}};
  if (auto threads = entries ? entries.getAs<IntegerAttr>("threads") : IntegerAttr())
    json["threads"] = threads.getInt();
  const auto programs = module.getOps<plan::ProgramOp>();
  if (programs.empty()) {
    if (!isModel)
      json["times"] = "trace";
    return json;
  }
  const std::map<StringRef, bool> layers = timedLayers(*programs.begin());
  json["operations"] = layers.size();
  json["measured"] = measuredOf(layers, profile);
  return json;
}

} // namespace syncline::codegen
