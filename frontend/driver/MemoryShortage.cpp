// Names what is missing, and searches for what fits.
#include "frontend/driver/MemoryShortage.h"

#include "frontend/files/FormatUnits.h"
#include "ir/FirstOf.h"
#include "ir/nn/NN.h"
#include "ir/plan/OptimizerState.h"
#include "ir/plan/RankMemory.h"
#include "passes/candidates/PlanCandidate.h"
#include "passes/lower/MemoryElsewhere.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace syncline::driver {
namespace {

/// The program's memory with another batch, by the same messages.
lower::MemoryNeed needWith(plan::ProgramOp program) {
  lower::MemoryNeed need{.ranks = static_cast<std::int64_t>(program.getRanks()),
                         .isCarrying = program.getOverlap() == "step"};
  for (auto bucket : program.getOps<plan::BucketOp>())
    if (isGathered(bucket.getScheme()))
      for (auto member : bucket.getMembers().getAsRange<StringAttr>())
        need.factors[member.getValue().str()] = 0; // its own: the program has the tensors
  return need;
}

std::string batchText(ModuleOp plan) {
  const std::int64_t batch = largestBatch(plan);
  return batch > 0 ? "'--batch " + std::to_string(batch) + "' is the largest that fits"
                   : "no --batch fits";
}

/// What the message counts beside tensors.
std::string countedText(const plan::RankMemory &memory, ModuleOp plan) {
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const std::int64_t libraries = plan::libraryBytes(spec);
  return libraries > 0 ? ", " + files::formatBytes(libraries) + " of it for CUDA and its libraries"
                       : "";
}

/// How much less updates of shares would need; empty where that would change nothing.
std::string shardedText(plan::ProgramOp program) {
  const std::int64_t moments = plan::optimizerBytes(program),
                     ranks = static_cast<std::int64_t>(program.getRanks());
  const bool isShared = llvm::any_of(program.getOps<plan::BucketOp>(), plan::updatesItself);
  if (moments == 0 || ranks == 1 || isShared || program.getConsistency())
    return "";
  return "; '--scheme *=reduce-scatter' needs " +
         files::formatBytes(moments - (moments + ranks - 1) / ranks) + " less";
}

} // namespace

std::int64_t largestBatch(ModuleOp plan) {
  auto program = firstOf<plan::ProgramOp>(plan);
  const plan::RankMemory memory = plan::rankMemory(plan);
  lower::MemoryNeed need = needWith(program);
  need.batch = static_cast<std::int64_t>(program.getBatch());
  // What the batch does not change: all but the spaces.
  const std::int64_t beside = memory.needed - lower::memoryElsewhere(program, need);
  const auto fits = [&](std::int64_t batch) {
    need.batch = batch;
    return lower::memoryElsewhere(program, need) + beside <= *memory.size;
  };
  std::int64_t fitting = 0, failing = need.batch;
  while (fitting + 1 < failing) {
    const std::int64_t middle = fitting + (failing - fitting) / 2;
    (fits(middle) ? fitting : failing) = middle;
  }
  return fitting;
}

Status expectMemory(const std::string &path, const candidates::Candidate &candidate,
                    ModuleOp plan) {
  const plan::RankMemory memory = plan::rankMemory(plan);
  if (!memory.isShort())
    return Status::ok();
  auto program = firstOf<plan::ProgramOp>(plan);
  const bool recomputes = program && program->hasAttr(nn::recomputationAttr);
  std::string text = "the plan needs " + files::formatBytes(memory.needed) +
                     " of memory on every device" + (recomputes ? ", with recomputation" : "") +
                     countedText(memory, plan) + ", '" + path + "' has devices of " +
                     files::formatBytes(*memory.size);
  if (recomputes)
    text += ", " + std::to_string(memory.needed - *memory.size) + " bytes too few";
  text += "; " + (program ? batchText(plan)
                          : "parameters, gradients and moments alone are too large, activations "
                            "are not counted");
  if (program)
    text += shardedText(program);
  if (candidate.overlap == "step")
    text += "; '--overlap backward' needs less";
  return Status::badInput(text);
}

std::string recomputedText(const candidates::Candidate &candidate, ModuleOp source,
                           const EnterPhase &enter) {
  candidates::CandidatePlanner planner(source, /*recomputesToFit=*/true, enter);
  Result<OwningOpRef<ModuleOp>> plan = planner.plan(candidate);
  if (!plan)
    return "";
  const plan::RankMemory memory = plan::rankMemory(**plan);
  return std::string("; '--recompute auto' ") + (memory.isShort() ? "still needs " : "needs ") +
         files::formatBytes(memory.needed) +
         (memory.isShort() ? " and " + batchText(**plan) + " with it" : "");
}

} // namespace syncline::driver
