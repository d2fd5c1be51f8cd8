// Problems and solutions: from operations to structs and back.
#include "passes/merge/MergeOps.h"

#include "ir/plan/Plan.h"
#include "ir/sync/Traffic.h"
#include "passes/cost/CollectiveTime.h"
#include "passes/problem/TreeCost.h"

using namespace mlir;
using namespace syncline;

static_assert(sync::oneTreeBytes == solver::oneTreeBytes);

bool syncline::hasGpus(cluster::SpecAttr spec) {
  constexpr double leastOfGpus = 1e12;
  return spec.getNccl() || double(spec.getDevice().getCompute().value_or(0)) >= leastOfGpus;
}

static FailureOr<solver::Lane> toLane(sync::ProblemOp op, sync::LaneAttr lane) {
  solver::Lane result;
  for (sync::OptionAttr option : lane.getOptions()) {
    Result<std::shared_ptr<const solver::CollectiveCost>> cost =
        cost::collectiveTime(option.getCost());
    if (!cost)
      return op.emitOpError(cost.status().message());
    result.options.push_back({toSolverScheme(option.getScheme()), std::move(*cost),
                              option.getTraffic(), sync::shortTraffic(option, sync::isByNccl(op))});
  }
  result.largestMessage = lane.getLargest().value_or(solver::unlimited);
  result.capacity = lane.getCapacity().value_or(solver::unlimited);
  return result;
}

FailureOr<solver::JointProblem> syncline::toJointProblem(sync::ProblemOp op) {
  solver::JointProblem problem;
  problem.computeFree = op.getBackwardEnd().convertToDouble();
  if (auto module = op->getParentOfType<ModuleOp>())
    if (auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr))
      problem.onGpus = hasGpus(spec);
  for (auto attr : op.getLanes().getAsRange<sync::LaneAttr>()) {
    FailureOr<solver::Lane> lane = toLane(op, attr);
    if (failed(lane))
      return failure();
    problem.lanes.push_back(std::move(*lane));
  }
  const std::uint32_t everyLane = (1u << problem.lanes.size()) - 1;
  for (size_t k = 0; k < op.getBytes().size(); ++k) {
    const auto lanes = op.getOnly() ? static_cast<std::uint32_t>((*op.getOnly())[k]) : everyLane;
    problem.layers.push_back({op.getBytes()[k], op.getReady().getValues()[k], lanes, {}, {}});
  }
  for (sync::SoloAttr solo : op.soloList())
    problem.layers[solo.getLayer()].solos.push_back(
        {toSolverScheme(solo.getScheme()), solo.getSeconds(), solo.getRebuild(), solo.getTraffic(),
         solo.getFactorBytes().value_or(0)});
  const llvm::ArrayRef<std::int64_t> riders =
      op.getRiders().value_or(llvm::ArrayRef<std::int64_t>());
  for (size_t i = 0; i < riders.size(); i += 2)
    problem.layers[riders[i]].carrier = static_cast<std::size_t>(riders[i + 1]);
  if (Status valid = solver::validate(problem); !valid)
    return op.emitOpError(valid.message());
  return problem;
}

FailureOr<sync::ProblemOp> syncline::problemOf(sync::SolutionOp op) {
  auto problem = SymbolTable::lookupNearestSymbolFrom<sync::ProblemOp>(op, op.getProblemAttr());
  if (!problem)
    return op.emitOpError("expected a 'sync.problem' named '") << op.getProblem() << "'";
  return problem;
}

/// Where `scheme` stands among what the message's lane or layer offers, or one past the last.
static std::size_t optionOf(const solver::JointProblem &problem,
                            const solver::JointMessage &message, solver::Scheme scheme) {
  auto place = [&](const auto &options) {
    std::size_t i = 0;
    while (i < options.size() && options[i].scheme != scheme)
      ++i;
    return i;
  };
  if (!message.isSolo)
    return message.lane < problem.lanes.size() ? place(problem.lanes[message.lane].options) : 0;
  const bool isKnown = !message.layers.empty() && message.layers.front() < problem.layers.size();
  return isKnown ? place(problem.layers[message.layers.front()].solos) : 0;
}

/// Whether the device computes the message's gradient once it has arrived.
static bool isRebuilt(const solver::JointProblem &problem, const solver::JointMessage &message) {
  if (!message.isSolo || message.layers.empty() || message.layers.front() >= problem.layers.size())
    return false;
  const std::vector<solver::SoloOption> &solos = problem.layers[message.layers.front()].solos;
  return message.option < solos.size() && solos[message.option].rebuild > 0;
}

FailureOr<solver::JointPlan> syncline::toPlan(sync::SolutionOp op,
                                              const solver::JointProblem &problem) {
  solver::JointPlan plan;
  plan.computeEnd = problem.computeFree;
  for (auto attr : op.getMessages().getAsRange<sync::MessageAttr>()) {
    solver::JointMessage message;
    message.layers.assign(attr.getLayers().begin(), attr.getLayers().end());
    message.isSolo = attr.isSolo();
    message.lane = static_cast<std::size_t>(attr.getLane().value_or(0));
    message.option = optionOf(problem, message, toSolverScheme(attr.getScheme()));
    message.bytes = attr.getBytes();
    message.ready = attr.getReady();
    message.start = attr.getStart();
    message.end = attr.getEnd();
    message.rebuilt = attr.rebuiltAt();
    plan.communicationEnd = message.end;
    if (isRebuilt(problem, message))
      plan.computeEnd = message.rebuilt;
    plan.messages.push_back(std::move(message));
  }
  for (std::int64_t rider : op.getRiders().value_or(llvm::ArrayRef<std::int64_t>()))
    plan.riders.push_back(static_cast<std::size_t>(rider));
  plan.finish = op.getFinish().convertToDouble();
  return plan;
}

sync::TimesAttr syncline::timesAttr(OpBuilder &builder, llvm::ArrayRef<double> seconds) {
  return sync::TimesAttr::get(builder.getContext(),
                              llvm::SmallVector<cluster::Real>(seconds.begin(), seconds.end()));
}

std::optional<solver::BoundProof> syncline::toProof(sync::SolutionOp op) {
  if (!op.getCertificate())
    return std::nullopt;
  if (auto times = dyn_cast<sync::TimesAttr>(*op.getCertificate()))
    return solver::Certificate{{times.getValues().begin(), times.getValues().end()}};
  auto states = cast<sync::StatesAttr>(*op.getCertificate());
  solver::JointCertificate proof;
  proof.bound = op.getBound().convertToDouble();
  for (const sync::RelaxationRow &row : states.getRelaxations()) {
    solver::Relaxation relaxation{row.channelWeight, row.heldWeight, {}};
    for (std::size_t lane = 0; lane < solver::maxLanes; ++lane)
      relaxation.lines[lane] = {row.lines[lane].latency, row.lines[lane].secondsPerByte};
    proof.relaxations.push_back(relaxation);
  }
  for (size_t layers = 0; layers < states.getEnds().size(); ++layers) {
    std::vector<solver::PlanState> &list = proof.states.emplace_back();
    for (const sync::StateRow &row : states.after(layers))
      list.push_back({row.free, row.compute, row.held, row.open, row.freedom});
  }
  return proof;
}

static Attribute proofAttr(OpBuilder &builder, const solver::BoundProof &proof) {
  if (const auto *times = std::get_if<solver::Certificate>(&proof))
    return timesAttr(builder, times->earliestFinish);
  const auto &joint = std::get<solver::JointCertificate>(proof);
  llvm::SmallVector<sync::RelaxationRow> relaxations;
  for (const solver::Relaxation &relaxation : joint.relaxations) {
    sync::RelaxationRow row{relaxation.channelWeight, relaxation.heldWeight, {}};
    for (std::size_t lane = 0; lane < solver::maxLanes; ++lane)
      row.lines[lane] = {relaxation.lines[lane].latency, relaxation.lines[lane].secondsPerByte};
    relaxations.push_back(row);
  }
  llvm::SmallVector<sync::StateRow> states;
  llvm::SmallVector<std::int64_t> ends;
  for (const std::vector<solver::PlanState> &list : joint.states) {
    for (const solver::PlanState &state : list)
      states.push_back({state.free, state.compute, state.held, state.freedom, state.open});
    ends.push_back(static_cast<std::int64_t>(states.size()));
  }
  return sync::StatesAttr::get(builder.getContext(), relaxations, states, ends);
}

static sync::MessageAttr messageAttr(MLIRContext *context, const solver::JointProblem &problem,
                                     const solver::JointPlan &plan,
                                     const solver::JointMessage &message) {
  std::optional<std::int64_t> lane;
  if (!message.isSolo)
    lane = static_cast<std::int64_t>(message.lane);
  std::optional<cluster::Real> rebuilt;
  if (message.rebuilt != message.end)
    rebuilt = message.rebuilt;
  return sync::MessageAttr::get(
      context, llvm::SmallVector<std::int64_t>(message.layers.begin(), message.layers.end()),
      toClusterScheme(plan.scheme(problem, message)), lane, message.bytes, message.ready,
      message.start, message.end, rebuilt);
}

sync::SolutionOp syncline::createSolution(OpBuilder &builder, sync::ProblemOp op,
                                          const solver::JointProblem &problem, StringRef planner,
                                          const solver::PlanResult &result) {
  llvm::SmallVector<Attribute> messages;
  for (const solver::JointMessage &message : result.plan.messages)
    messages.push_back(messageAttr(builder.getContext(), problem, result.plan, message));
  DenseI64ArrayAttr riders;
  if (!result.plan.riders.empty())
    riders = builder.getDenseI64ArrayAttr(
        llvm::SmallVector<std::int64_t>(result.plan.riders.begin(), result.plan.riders.end()));
  return builder.create<sync::SolutionOp>(
      op.getLoc(), FlatSymbolRefAttr::get(op.getSymNameAttr()), builder.getStringAttr(planner),
      builder.getArrayAttr(messages), riders, builder.getF64FloatAttr(result.plan.finish),
      builder.getF64FloatAttr(result.bound), proofAttr(builder, result.proof));
}

cluster::Scheme syncline::toClusterScheme(solver::Scheme scheme) {
  switch (scheme) {
  case solver::Scheme::ring:
    return cluster::Scheme::ring;
  case solver::Scheme::recursiveDoubling:
    return cluster::Scheme::recursiveDoubling;
  case solver::Scheme::halvingDoubling:
    return cluster::Scheme::halvingDoubling;
  case solver::Scheme::tree:
    return cluster::Scheme::tree;
  case solver::Scheme::reduceScatter:
    return cluster::Scheme::reduceScatter;
  case solver::Scheme::hierarchical:
    return cluster::Scheme::hierarchical;
  case solver::Scheme::parameterServer:
    return cluster::Scheme::parameterServer;
  case solver::Scheme::factors:
    return cluster::Scheme::factors;
  }
  llvm_unreachable("every scheme is named above");
}

solver::Scheme syncline::toSolverScheme(cluster::Scheme scheme) {
  switch (scheme) {
  case cluster::Scheme::ring:
    return solver::Scheme::ring;
  case cluster::Scheme::recursiveDoubling:
    return solver::Scheme::recursiveDoubling;
  case cluster::Scheme::halvingDoubling:
    return solver::Scheme::halvingDoubling;
  case cluster::Scheme::tree:
    return solver::Scheme::tree;
  case cluster::Scheme::reduceScatter:
    return solver::Scheme::reduceScatter;
  case cluster::Scheme::hierarchical:
    return solver::Scheme::hierarchical;
  case cluster::Scheme::parameterServer:
    return solver::Scheme::parameterServer;
  case cluster::Scheme::factors:
    return solver::Scheme::factors;
  }
  llvm_unreachable("every scheme is named above");
}

std::optional<std::int64_t> syncline::samplesOf(ModuleOp module) {
  for (auto program : module.getOps<plan::ProgramOp>())
    return program.getBatch();
  std::optional<std::int64_t> samples;
  bool agree = true;
  module.walk([&](sync::LayerOp layer) {
    if (!layer.getMatmul())
      return;
    const std::int64_t k = (*layer.getMatmul())[2];
    agree &= samples.value_or(k) == k;
    samples = k;
  });
  return agree ? samples : std::nullopt;
}
