// Lists what is open.
#include "passes/candidates/Candidates.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/solver/Planner.h"

using namespace mlir;

namespace syncline::candidates {
namespace {

using PlannerRef = std::shared_ptr<const solver::Planner>;

/// Whether some parameter is the table of an embedding and has one other reader. Whether its
/// gradient has two parts then, only the backward pass shows.
bool hasTied(ModuleOp module) {
  for (auto step : module.getOps<nn::StepOp>())
    for (auto parameter : step.getOps<nn::ParameterOp>())
      if (!parameter->hasOneUse() && llvm::any_of(parameter->getUsers(), [](Operation *reader) {
            return isa<nn::EmbeddingOp>(reader);
          }))
        return true;
  return false;
}

bool isOneRank(ModuleOp module) {
  return module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr).getRanks() == 1;
}

/// Appends candidates that differ from `first` in planner and split.
void appendVariants(std::vector<Candidate> &all, const Request &request, const Candidate &first,
                    ModuleOp source) {
  const auto append = [&](const PlannerRef &planner, bool splitsTied) {
    all.push_back(first);
    all.back().planner = planner;
    all.back().splitTied = splitsTied;
  };
  const bool crosses = first.overlap == plan::overlapStep;
  append(first.planner, first.splitTied);
  if (!first.planner->isOptimal())
    return; // it follows a system
  if (first.accumulate > 1) {
    if (!crosses)
      append(solver::microBatchesPlanner(first.accumulate), false);
    append(solver::sumsPlanner(), false);
  } else if (request.opensSplit && !crosses && first.consistency == "bsp" && !isOneRank(source) &&
             hasTied(source)) {
    append(first.planner, true);
  }
}

} // namespace

std::string overlapFor(const solver::Planner &planner, const std::string &wanted) {
  if (wanted != "auto" || planner.isOptimal())
    return wanted;
  return planner.orderRule() ? "step" : "backward";
}

std::vector<Candidate> candidatesOf(const Request &request, ModuleOp source) {
  std::vector<Candidate> all;
  Candidate first = request.asked;
  for (first.channels = request.opensChannels ? 1 : request.asked.channels;;) {
    const std::string overlap =
        request.opensOverlap ? overlapFor(*first.planner, "auto") : request.asked.overlap;
    const bool isOpen = overlap == "auto" && !isOneRank(source); // one rank sends nothing
    first.overlap = overlap == "auto" ? "backward" : overlap;
    appendVariants(all, request, first, source);
    if (isOpen) {
      if (first.clipNorm == 0) { // updates would wait for the norm of all gradients
        first.overlap = "step";
        appendVariants(all, request, first, source);
      }
      all.push_back(first);
      all.back().planner = *solver::parsePlanner("single");
      all.back().overlap = "backward";
    }
    if (!request.opensChannels || ++first.channels > 2)
      return all;
  }
}

} // namespace syncline::candidates
