// Converts problems and solutions from operations to structs and back.
#include "passes/merge/MergeOps.h"

#include "ir/plan/Plan.h"
#include "ir/sync/Traffic.h"
#include "passes/cost/CollectiveTime.h"
#include "passes/problem/TreeCost.h"

using namespace mlir;
using namespace syncline;

static_assert(sync::oneTreeBytes == problem::oneTreeBytes);

bool syncline::hasGpus(cluster::SpecAttr spec) {
  constexpr double minOfGpus = 1e12;
  return spec.getNccl() || double(spec.getDevice().getCompute().value_or(0)) >= minOfGpus;
}

static FailureOr<problem::MergeClass> toMergeClass(sync::ProblemOp op,
                                                   sync::MergeClassAttr mergeClass) {
  problem::MergeClass result;
  for (sync::OptionAttr option : mergeClass.getOptions()) {
    Result<std::shared_ptr<const problem::CollectiveCost>> cost =
        cost::collectiveTime(option.getCost());
    if (!cost)
      return op.emitOpError(cost.status().message());
    result.options.push_back({option.getScheme(), std::move(*cost), option.getTraffic(),
                              sync::shortTraffic(option, sync::isByNccl(op))});
  }
  result.largestMessage = mergeClass.getLargest().value_or(problem::unlimited);
  result.capacity = mergeClass.getCapacity().value_or(problem::unlimited);
  return result;
}

FailureOr<problem::Problem> syncline::toProblem(sync::ProblemOp op) {
  problem::Problem problem;
  problem.computeFree = op.getBackwardEnd().convertToDouble();
  if (auto module = op->getParentOfType<ModuleOp>())
    if (auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr))
      problem.onGpus = hasGpus(spec);
  for (auto attr : op.getMergeClasses().getAsRange<sync::MergeClassAttr>()) {
    FailureOr<problem::MergeClass> mergeClass = toMergeClass(op, attr);
    if (failed(mergeClass))
      return failure();
    problem.mergeClasses.push_back(std::move(*mergeClass));
  }
  const std::uint32_t everyMergeClass = (1u << problem.mergeClasses.size()) - 1;
  for (size_t k = 0; k < op.getBytes().size(); ++k) {
    const auto mergeClasses =
        op.getOnly() ? static_cast<std::uint32_t>((*op.getOnly())[k]) : everyMergeClass;
    problem.layers.push_back(
        {op.getBytes()[k], op.getReady().getValues()[k], mergeClasses, {}, {}});
  }
  for (sync::FactorOptionAttr factorOption : op.factorOptionList())
    problem.layers[factorOption.getLayer()].factorOptions.push_back(
        {factorOption.getScheme(), factorOption.getSeconds(), factorOption.getReconstruct(),
         factorOption.getTraffic(), factorOption.getFactorBytes().value_or(0)});
  const llvm::ArrayRef<std::int64_t> piggybacks =
      op.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
  for (size_t i = 0; i < piggybacks.size(); i += 2)
    problem.layers[piggybacks[i]].carrier = static_cast<std::size_t>(piggybacks[i + 1]);
  if (Status valid = problem::validate(problem); !valid)
    return op.emitOpError(valid.message());
  return problem;
}

FailureOr<sync::ProblemOp> syncline::problemOf(sync::SolutionOp op) {
  auto problem = SymbolTable::lookupNearestSymbolFrom<sync::ProblemOp>(op, op.getProblemAttr());
  if (!problem)
    return op.emitOpError("expected a 'sync.problem' named '") << op.getProblem() << "'";
  return problem;
}

/// The index of `scheme` among the options of the message's merge class or layer, or one past the
/// last index.
static std::size_t optionOf(const problem::Problem &problem, const problem::Message &message,
                            Scheme scheme) {
  auto place = [&](const auto &options) {
    std::size_t i = 0;
    while (i < options.size() && options[i].scheme != scheme)
      ++i;
    return i;
  };
  if (!message.isFactors)
    return message.mergeClass < problem.mergeClasses.size()
               ? place(problem.mergeClasses[message.mergeClass].options)
               : 0;
  const bool isKnown = !message.layers.empty() && message.layers.front() < problem.layers.size();
  return isKnown ? place(problem.layers[message.layers.front()].factorOptions) : 0;
}

/// Whether the device reconstructs the message's gradient once it has arrived.
static bool isReconstructed(const problem::Problem &problem, const problem::Message &message) {
  if (!message.isFactors || message.layers.empty() ||
      message.layers.front() >= problem.layers.size())
    return false;
  const std::vector<problem::FactorOption> &factorOptions =
      problem.layers[message.layers.front()].factorOptions;
  return message.option < factorOptions.size() && factorOptions[message.option].reconstruct > 0;
}

FailureOr<problem::Solution> syncline::toPlan(sync::SolutionOp op,
                                              const problem::Problem &problem) {
  problem::Solution plan;
  plan.computeEnd = problem.computeFree;
  for (auto attr : op.getMessages().getAsRange<sync::MessageAttr>()) {
    problem::Message message;
    message.layers.assign(attr.getLayers().begin(), attr.getLayers().end());
    message.isFactors = attr.isFactors();
    message.mergeClass = static_cast<std::size_t>(attr.getMergeClass().value_or(0));
    message.option = optionOf(problem, message, attr.getScheme());
    message.bytes = attr.getBytes();
    message.ready = attr.getReady();
    message.start = attr.getStart();
    message.end = attr.getEnd();
    message.reconstructed = attr.reconstructedAt();
    plan.communicationEnd = message.end;
    if (isReconstructed(problem, message))
      plan.computeEnd = message.reconstructed;
    plan.messages.push_back(std::move(message));
  }
  for (std::int64_t piggyback : op.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>()))
    plan.piggybacks.push_back(static_cast<std::size_t>(piggyback));
  plan.finish = op.getFinish().convertToDouble();
  return plan;
}

sync::TimesAttr syncline::timesAttr(OpBuilder &builder, llvm::ArrayRef<double> seconds) {
  return sync::TimesAttr::get(builder.getContext(),
                              llvm::SmallVector<cluster::Real>(seconds.begin(), seconds.end()));
}

std::optional<problem::BoundProof> syncline::toProof(sync::SolutionOp op) {
  if (!op.getCertificate())
    return std::nullopt;
  if (auto times = dyn_cast<sync::TimesAttr>(*op.getCertificate()))
    return problem::MergeCertificate{{times.getValues().begin(), times.getValues().end()}};
  auto states = cast<sync::StatesAttr>(*op.getCertificate());
  problem::Certificate proof;
  proof.bound = op.getBound().convertToDouble();
  for (const sync::RelaxationRow &row : states.getRelaxations()) {
    problem::Relaxation relaxation{row.channelWeight, row.heldWeight, {}};
    for (std::size_t mergeClass = 0; mergeClass < problem::maxMergeClasses; ++mergeClass)
      relaxation.lines[mergeClass] = {row.lines[mergeClass].latency,
                                      row.lines[mergeClass].secondsPerByte};
    proof.relaxations.push_back(relaxation);
  }
  for (size_t layers = 0; layers < states.getEnds().size(); ++layers) {
    std::vector<problem::PlanState> &list = proof.states.emplace_back();
    for (const sync::StateRow &row : states.after(layers))
      list.push_back({row.free, row.compute, row.held, row.open, row.freedom});
  }
  return proof;
}

static Attribute proofAttr(OpBuilder &builder, const problem::BoundProof &proof) {
  if (const auto *times = std::get_if<problem::MergeCertificate>(&proof))
    return timesAttr(builder, times->earliestFinish);
  const auto &joint = std::get<problem::Certificate>(proof);
  llvm::SmallVector<sync::RelaxationRow> relaxations;
  for (const problem::Relaxation &relaxation : joint.relaxations) {
    sync::RelaxationRow row{relaxation.channelWeight, relaxation.heldWeight, {}};
    for (std::size_t mergeClass = 0; mergeClass < problem::maxMergeClasses; ++mergeClass)
      row.lines[mergeClass] = {relaxation.lines[mergeClass].latency,
                               relaxation.lines[mergeClass].secondsPerByte};
    relaxations.push_back(row);
  }
  llvm::SmallVector<sync::StateRow> states;
  llvm::SmallVector<std::int64_t> ends;
  for (const std::vector<problem::PlanState> &list : joint.states) {
    for (const problem::PlanState &state : list)
      states.push_back({state.free, state.compute, state.held, state.freedom, state.open});
    ends.push_back(static_cast<std::int64_t>(states.size()));
  }
  return sync::StatesAttr::get(builder.getContext(), relaxations, states, ends);
}

static sync::MessageAttr messageAttr(MLIRContext *context, const problem::Problem &problem,
                                     const problem::Solution &plan,
                                     const problem::Message &message) {
  std::optional<std::int64_t> mergeClass;
  if (!message.isFactors)
    mergeClass = static_cast<std::int64_t>(message.mergeClass);
  std::optional<cluster::Real> reconstructed;
  if (message.reconstructed != message.end)
    reconstructed = message.reconstructed;
  return sync::MessageAttr::get(
      context, llvm::SmallVector<std::int64_t>(message.layers.begin(), message.layers.end()),
      plan.scheme(problem, message), mergeClass, message.bytes, message.ready, message.start,
      message.end, reconstructed);
}

sync::SolutionOp syncline::createSolution(OpBuilder &builder, sync::ProblemOp op,
                                          const problem::Problem &problem, StringRef planner,
                                          const solver::PlanResult &result) {
  llvm::SmallVector<Attribute> messages;
  for (const problem::Message &message : result.plan.messages)
    messages.push_back(messageAttr(builder.getContext(), problem, result.plan, message));
  DenseI64ArrayAttr piggybacks;
  if (!result.plan.piggybacks.empty())
    piggybacks = builder.getDenseI64ArrayAttr(llvm::SmallVector<std::int64_t>(
        result.plan.piggybacks.begin(), result.plan.piggybacks.end()));
  return builder.create<sync::SolutionOp>(
      op.getLoc(), FlatSymbolRefAttr::get(op.getSymNameAttr()), builder.getStringAttr(planner),
      builder.getArrayAttr(messages), piggybacks, builder.getF64FloatAttr(result.plan.finish),
      builder.getF64FloatAttr(result.bound), proofAttr(builder, result.proof));
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
