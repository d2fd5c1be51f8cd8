// The choice among candidates, by predicted steps.
#pragma once

#include "passes/RunPipeline.h"
#include "passes/candidates/Candidates.h"
#include "syncline/Status.h"

#include "mlir/IR/OwningOpRef.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace syncline::candidates {

/// The share of the predicted step that a candidate has to save against a simpler one. Predictions
/// are seldom true to less than 1 %, and the simpler plan is easier to read, to explain and to
/// prove optimal.
inline constexpr double leastGain = 0.01;

/// What became of a candidate. Without a step and with an ok status it was not planned, because its
/// step takes at least `least`.
struct Outcome {
  Candidate candidate;
  Status status = Status::ok();    ///< why it is refused
  std::optional<double> step = {}; ///< seconds
  double least = 0;                ///< seconds
  /// Mean seconds of disturbed steps, where these decided between an order and a barrier.
  std::optional<double> disturbed = {};
  bool gathers = false; ///< whether some of its messages travel in each micro-batch
};

struct Choice {
  mlir::OwningOpRef<mlir::ModuleOp> plan;
  std::vector<Outcome> outcomes; ///< of the candidates that were looked at, in their order
  std::size_t chosen = 0;        ///< among the outcomes
};

/// Whether the devices can hold a candidate's plan; badInput where they cannot.
using ExpectFits = std::function<Status(const Candidate &candidate, mlir::ModuleOp plan)>;

/// The seconds of the plan's predicted step; 0 without a prediction.
double stepOf(mlir::ModuleOp plan);

/// Whether a step without any waiting for messages would be shorter by leastGain.
bool canGain(mlir::ModuleOp plan);

/// Plans the module in all ways of candidatesOf(), one after the other, and takes each one that
/// saves leastGain of the step of the one taken before. Candidates that cannot save it are not
/// planned, nor are 'micro-batches:N' and 'sums' where nothing travels in each micro-batch anyway.
/// Refused ones are left out. Where the plan has tied gradients in two parts, its prediction's
/// `whole` has the step with whole ones; where another planner counts messages of each micro-batch,
/// `gathering` has the step by the asked one (P22).
///
/// Errors: internal where the compiler is at fault in one of them; where all are refused, the first
/// one's refusal. Preconditions: as for candidatesOf(); with `recomputesToFit` the cluster states
/// its devices' memory.
Result<Choice> choosePlan(const Request &request, mlir::ModuleOp source, const ExpectFits &fits,
                          const EnterPhase &enter);

} // namespace syncline::candidates
