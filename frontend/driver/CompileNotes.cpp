// Notes of `compile` about cluster, planner and model.
#include "frontend/driver/CompileNotes.h"

#include "codegen/nccl/TunerTable.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/onnx/Notes.h"
#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace mlir;

namespace syncline::driver {

std::string inventoryText(const frontend::Inventory &inventory) {
  std::string text = files::counted(inventory.parameters, "parameter") + ", " +
                     files::formatBytes(inventory.bytes);
  const char *before = "; not planned: ";
  for (const frontend::LeftOut &group : inventory.leftOut) {
    text += before + frontend::listNames(group.names) + " (" + group.reason + ", " +
            files::formatBytes(group.bytes) + ")";
    before = "; ";
  }
  return text;
}

std::string whyNoStep(const Status &refusal) {
  const llvm::StringRef reason(refusal.message());
  return "planned by its nodes' shapes, since no step can be made of it: " +
         reason.split("; frontend/onnx/README.md").first.str();
}

void warnOfClashes(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!spec.getNccl())
    return;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    const char *const message = program.getConsistency() ? "fragment" : "bucket";
    for (const codegen::TunerClash &clash : codegen::tunerTable(program).clashes)
      std::fprintf(stderr,
                   "syncline: warning: %ss %lld and %lld both have %lld bytes, which is all "
                   "that NCCL knows them by: both go by %s, %s %lld not by %s\n",
                   message, static_cast<long long>(clash.first),
                   static_cast<long long>(clash.second), static_cast<long long>(clash.bytes),
                   clash.firstAlgorithm.c_str(), message, static_cast<long long>(clash.second),
                   clash.secondAlgorithm.c_str());
  }
}

void noteAssumedDevice(const std::string &offer) {
  std::fprintf(stderr,
               "syncline: note: %sthe cluster file states no rates of 'device'; times are those of "
               "the kind 'cpu', 60 GFLOP/s; 'syncline profile' measures this machine's\n",
               offer.empty() ? "" : ("offer '" + offer + "': ").c_str());
}

void noteSlowNodes(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  for (cluster::OverrideAttr own : spec.getOverrides())
    if (double(own.getSlowdown()) > 1)
      std::fprintf(
          stderr,
          "syncline: note: %s%lld%s computes %g times as long ('overrides' of the cluster "
          "file): every step waits for it\n",
          own.getNodes().size() > 1 ? "each of nodes " : "node ",
          static_cast<long long>(own.getNodes().front()),
          own.getNodes().size() > 1 ? (" to " + std::to_string(own.getNodes().back())).c_str() : "",
          double(own.getSlowdown()));
}

/// Whether the devices may be GPUs though nothing says so: their rate, if one is stated, reaches
/// that of the slowest kind.
static bool mayBeGpus(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const auto provenance = module->getAttrOfType<DictionaryAttr>(cluster::provenanceAttr);
  if (spec.getNccl() || provenance.contains("device"))
    return false;
  const auto rate = spec.getDevice().getCompute();
  const auto efficiency = provenance.getAs<FloatAttr>("efficiency");
  const double stated =
      rate ? double(*rate) / (efficiency ? efficiency.getValueAsDouble() : 1) : INFINITY;
  return std::ranges::any_of(files::deviceKinds(), [&](std::string_view kind) {
    return files::deviceCapability(kind) > 0 && stated >= *files::deviceKind(kind)->compute;
  });
}

void noteRing(const solver::Planner &planner, ModuleOp module, const nlohmann::json &plan) {
  const llvm::StringRef name = planner.name();
  const bool isSystem = name.starts_with("ddp:") || name.starts_with("horovod:");
  const nlohmann::json &buckets = plan.at("buckets");
  const bool hasRing = std::ranges::any_of(
      buckets, [](const nlohmann::json &bucket) { return bucket.at("scheme") == "ring"; });
  if (isSystem && hasRing && mayBeGpus(module))
    std::fprintf(stderr,
                 "syncline: note: planner '%s' sends by ring, as Gloo does on processors: devices "
                 "count as GPUs by a 'kind' of 'device' in the cluster file or by '--backend "
                 "cuda'\n",
                 planner.name().c_str());
}

/// The options that ask for a candidate: "'--overlap backward --planner single'". Where only the
/// number of channels is open these are "'--channels 2'", since a plan without a step has no
/// --overlap. How often what travels in every micro-batch counts is compared, but is no option.
static std::string optionsFor(const candidates::Candidate &candidate,
                              const candidates::Choice &choice) {
  const candidates::Candidate &first = choice.outcomes.front().candidate;
  if (std::ranges::all_of(choice.outcomes, [&](const candidates::Outcome &other) {
        return other.candidate.overlap == first.overlap &&
               other.candidate.planner == first.planner &&
               other.candidate.splitTied == first.splitTied;
      }))
    return "'--channels " + std::to_string(candidate.channels) + "'";
  std::string text = "'--overlap " + candidate.overlap;
  const std::string planner = candidate.planner->name();
  const bool isOffered = solver::parsePlanner(planner).isOk();
  if (candidate.planner != first.planner && isOffered)
    text += " --planner " + planner;
  if (candidate.splitTied)
    text += " --split-tied always";
  if (candidate.channels != first.channels)
    text += " --channels " + std::to_string(candidate.channels);
  text += "'";
  if (!isOffered)
    text += planner == solver::sumsPlanner()->name() ? " by sums alone"
                                                     : " with every micro-batch's messages counted";
  return text;
}

/// "2.102 ms", and what disturbed steps take where that decided.
static std::string stepText(const candidates::Outcome &outcome) {
  return files::formatSeconds(*outcome.step, 4) +
         (outcome.disturbed ? ", " + files::formatSeconds(*outcome.disturbed, 4) +
                                  " in the mean of disturbed steps"
                            : "");
}

/// "2.102 ms with '--overlap backward'".
static std::string outcomeText(const candidates::Outcome &outcome,
                               const candidates::Choice &choice) {
  const std::string options = optionsFor(outcome.candidate, choice);
  if (!outcome.status)
    return options + " is refused: " + outcome.status.message();
  if (outcome.step)
    return stepText(outcome) + " with " + options;
  return "at least " + files::formatSeconds(outcome.least, 4) + " with " + options;
}

void noteChoice(const candidates::Choice &choice) {
  const candidates::Outcome &chosen = choice.outcomes[choice.chosen];
  std::string others;
  bool isAlone = true; // planned
  for (const candidates::Outcome &other : choice.outcomes) {
    if (&other == &chosen)
      continue;
    isAlone = isAlone && other.status && !other.step;
    others += "; " + outcomeText(other, choice);
  }
  if (others.empty())
    return;
  const std::string why = isAlone && !candidates::canGain(*choice.plan)
                              ? "messages cost less than 1 % of the step"
                              : "step " + stepText(chosen) + others;
  std::fprintf(stderr, "syncline: note: planned with %s: %s\n",
               optionsFor(chosen.candidate, choice).c_str(), why.c_str());
}

} // namespace syncline::driver
