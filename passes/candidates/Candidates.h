// The ways to plan that a request leaves open, as one list.
#pragma once

#include "passes/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace syncline::candidates {

/// One way to plan.
using Candidate = PipelineOptions;

/// What is asked of a plan, and what is left open.
struct Request {
  Candidate asked;              ///< with a planner; what is open in it counts nothing
  bool opensOverlap = false;    ///< "backward" or "step"
  bool opensChannels = false;   ///< 1 or 2
  bool opensSplit = false;      ///< whether tied gradients travel in two parts
  bool recomputesToFit = false; ///< as much as the devices' memory wants, in place of globs
};

/// The overlap to plan with: `wanted`, or for "auto" the only one that makes sense for the planner:
/// "step" for a rule of orders; "backward" for Z3 and for rules of systems whose steps wait for
/// their own messages. "auto" where both do, which is for the planner 'optimal'.
std::string overlapFor(const solver::Planner &planner, const std::string &wanted);

/// All ways that the request leaves open and that can differ for this model, simplest first: fewer
/// channels, messages behind the backward pass, gradients whole. With the overlap open, 'single' is
/// among them, which disturbs no computation. Where a step has several micro-batches, so are
/// 'micro-batches:N' and 'sums' (solver/Gathering.h), for messages by factors and rows travel
/// in each micro-batch; orders know 'sums' only, because their periods have times of their own
/// for factors.
///
/// Sums are never scattered over the ranks in each micro-batch: a reduce-scatter a micro-batch
/// moves as many times the bytes, and the last one is the same message as that of a step which
/// sends once, so no step ends sooner. It would only save 1 - 1/ranks of the sums' memory.
///
/// Precondition: `source` has `cluster.spec` and no backward pass.
std::vector<Candidate> candidatesOf(const Request &request, mlir::ModuleOp source);

} // namespace syncline::candidates
