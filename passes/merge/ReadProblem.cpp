// Reads problems and solutions.
#include "passes/merge/ReadProblem.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Cases.h"
#include "ir/sync/Traffic.h"
#include "passes/cost/CollectiveTime.h"
#include "passes/problem/Interference.h"
#include "passes/problem/TreeCost.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

static_assert(sync::oneTreeBytes == problem::oneTreeBytes);

/// Whether the cluster's devices are GPUs: NCCL carries the messages, or the cluster file names a
/// kind of GPU. A rate alone says nothing: processors reach those of GPUs.
static bool hasGpus(ModuleOp module, cluster::SpecAttr spec) {
  const auto provenance = module->getAttrOfType<DictionaryAttr>(cluster::provenanceAttr);
  return spec.getNccl() || cluster::namesGpu(provenance);
}

static problem::MergeClass toMergeClass(sync::ProblemOp op, sync::MergeClassAttr mergeClass) {
  problem::MergeClass result;
  const auto lost = [](Attribute cost) { return cost ? *cost::collectiveTime(cost) : nullptr; };
  for (sync::OptionAttr option : mergeClass.getOptions())
    result.options.push_back({option.getScheme(),
                              *cost::collectiveTime(option.getCost()),
                              option.getTraffic(),
                              sync::shortTraffic(option, sync::carrierOf(op)),
                              lost(option.getLost()),
                              {{lost(option.getProducts()), lost(option.getMemory())}}});
  result.largestMessage = mergeClass.getLargest().value_or(problem::unlimited);
  result.capacity = mergeClass.getCapacity().value_or(problem::unlimited);
  return result;
}

/// "features.0" of "features.0.weight"; empty for a parameter of no module.
static StringRef moduleOf(StringRef parameter) {
  return parameter.rsplit('.').second.empty() ? "" : parameter.rsplit('.').first;
}

/// Marks gradients behind which comes another one of their module.
static void setModules(sync::ProblemOp op, problem::Problem &problem) {
  const auto names = llvm::to_vector(op.getLayers().getAsValueRange<StringAttr>());
  for (size_t k = 0; k + 1 < problem.layers.size(); ++k)
    problem.layers[k].endsModule =
        moduleOf(names[k]).empty() || moduleOf(names[k]) != moduleOf(names[k + 1]);
}

problem::Problem syncline::merge::statedProblem(sync::ProblemOp op) {
  problem::Problem problem;
  problem.computeFree = op.getBackwardEnd().convertToDouble();
  if (auto module = op->getParentOfType<ModuleOp>())
    if (auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr))
      problem.onGpus = hasGpus(module, spec);
  for (auto mergeClass : op.getMergeClasses().getAsRange<sync::MergeClassAttr>())
    problem.mergeClasses.push_back(toMergeClass(op, mergeClass));
  const std::uint32_t everyMergeClass = (1u << problem.mergeClasses.size()) - 1;
  for (size_t k = 0; k < op.getBytes().size(); ++k) {
    const auto mergeClasses =
        op.getOnly() ? static_cast<std::uint32_t>((*op.getOnly())[k]) : everyMergeClass;
    problem.layers.push_back(
        {op.getBytes()[k], op.getReady().getValues()[k], mergeClasses, {}, {}});
  }
  setModules(op, problem);
  for (sync::FactorOptionAttr factorOption : op.factorOptionList())
    problem.layers[factorOption.getLayer()].factorOptions.push_back(
        {factorOption.getScheme(),
         factorOption.getSeconds(),
         factorOption.getReconstruct(),
         factorOption.getTraffic(),
         factorOption.getFactorBytes().value_or(0),
         factorOption.getLost().value_or(cluster::Real(0)),
         {{factorOption.getProducts().value_or(cluster::Real(0)),
           factorOption.getMemory().value_or(cluster::Real(0))}}});
  if (op.getMemoryBound()) {
    problem.memoryBound.emplace();
    const auto times = op.getMemoryBound()->getValues();
    for (std::size_t i = 0; i + 1 < times.size(); i += 2)
      problem.memoryBound->push_back({times[i], times[i + 1]});
  }
  const llvm::ArrayRef<std::int64_t> piggybacks =
      op.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>());
  for (size_t i = 0; i < piggybacks.size(); i += 2)
    problem.layers[piggybacks[i]].carrier = static_cast<std::size_t>(piggybacks[i + 1]);
  return problem;
}

FailureOr<problem::Problem> syncline::merge::toProblem(sync::ProblemOp op) {
  problem::Problem problem = statedProblem(op);
  if (Status valid = problem::validate(problem); !valid)
    return op.emitOpError(valid.message());
  return problem;
}

std::optional<problem::OrderProblem>
syncline::merge::toOrderProblem(sync::ProblemOp op, const problem::Problem &problem) {
  if (!op.getTails())
    return std::nullopt;
  const double forward = op.getForwardEnd().convertToDouble();
  return problem::OrderProblem{
      .sync = problem::shifted(problem, -forward),
      .tail = {op.getTails()->getValues().begin(), op.getTails()->getValues().end()},
      .update = {op.getOwnUpdates()->getValues().begin(), op.getOwnUpdates()->getValues().end()},
      .forward = forward + op.getUpdates().convertToDouble(),
      .cutsGradients = !needsWholeParameters(nn::optimizerOf(op))};
}

FailureOr<sync::ProblemOp> syncline::merge::problemOf(sync::SolutionOp op) {
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

/// Whether the problem has the message's option.
static bool hasOption(const problem::Problem &problem, const problem::Message &message) {
  if (!message.isFactors)
    return message.mergeClass < problem.mergeClasses.size() &&
           message.option < problem.mergeClasses[message.mergeClass].options.size();
  return !message.layers.empty() && message.layers.front() < problem.layers.size() &&
         message.option < problem.layers[message.layers.front()].factorOptions.size();
}

/// Whether the device reconstructs the message's gradient once it has arrived.
static bool isReconstructed(const problem::Problem &problem, const problem::Message &message) {
  return message.isFactors && hasOption(problem, message) &&
         problem::factorOptionOf(problem, message)->reconstruct > 0;
}

/// Whether the solution is an order, whose problem has `tails`.
static bool isOrder(sync::SolutionOp op) {
  auto answered = SymbolTable::lookupNearestSymbolFrom<sync::ProblemOp>(op, op.getProblemAttr());
  return answered && answered.getTails();
}

/// When the backward pass ends beside these messages, which travel whole and one by one.
static double backwardEnd(const problem::Problem &problem,
                          llvm::ArrayRef<problem::Message> messages) {
  problem::ComputationClock clock(problem);
  for (const problem::Message &message : messages)
    if (hasOption(problem, message) && message.bytes >= 0)
      clock.add(message.start, message.end, problem::lossOf(problem, message));
  return clock.at(problem.computeFree);
}

problem::Solution syncline::merge::toSolution(sync::SolutionOp op,
                                              const problem::Problem &problem) {
  problem::Solution plan;
  std::optional<double> reconstructed;
  for (auto attr : op.getMessages().getAsRange<sync::MessageAttr>()) {
    problem::Message message;
    message.layers.assign(attr.getLayers().begin(), attr.getLayers().end());
    message.isFactors = attr.isFactors();
    message.mergeClass = static_cast<std::size_t>(attr.getMergeClass().value_or(0));
    message.option = optionOf(problem, message, attr.getScheme());
    message.bytes = attr.getBytes();
    message.cutBefore = attr.cutBefore();
    message.cutBehind = attr.cutBehind();
    message.channel = static_cast<int>(attr.getChannel());
    message.ready = attr.getReady();
    message.start = attr.getStart();
    message.end = attr.getEnd();
    message.reconstructed = attr.reconstructedAt();
    if (sync::GatherAttr gather = attr.getGather())
      message.gather = {static_cast<std::size_t>(gather.getPlace()), gather.getStart(),
                        gather.getEnd()};
    plan.communicationEnd = message.end;
    if (isReconstructed(problem, message))
      reconstructed = message.reconstructed;
    plan.messages.push_back(std::move(message));
  }
  if (!isOrder(op))
    plan.computeEnd = reconstructed ? *reconstructed : backwardEnd(problem, plan.messages);
  for (std::int64_t piggyback : op.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>()))
    plan.piggybacks.push_back(static_cast<std::size_t>(piggyback));
  for (const problem::Message &message : plan.messages)
    if (message.gather)
      plan.communicationEnd = std::max(plan.communicationEnd, message.gather->end);
  plan.finish = op.getFinish().convertToDouble();
  return plan;
}

std::optional<problem::BoundProof> syncline::merge::toProof(sync::SolutionOp op) {
  if (!op.getCertificate() || isa<sync::OrderAttr>(*op.getCertificate()))
    return std::nullopt;
  if (auto times = dyn_cast<sync::TimesAttr>(*op.getCertificate()))
    return problem::MergeCertificate{{times.getValues().begin(), times.getValues().end()}};
  problem::Certificate proof;
  proof.bound = op.getBound().convertToDouble();
  for (const sync::RelaxationRow &row :
       cast<sync::RelaxationsAttr>(*op.getCertificate()).getRows()) {
    problem::Relaxation relaxation{row.channelWeight, row.heldWeight, {}};
    for (std::size_t mergeClass = 0; mergeClass < problem::maxMergeClasses; ++mergeClass)
      relaxation.lines[mergeClass] = {row.lines[mergeClass].latency,
                                      row.lines[mergeClass].secondsPerByte};
    proof.relaxations.push_back(relaxation);
  }
  return proof;
}

static problem::OrderCertificate withoutCases(sync::OrderAttr order, double bound) {
  problem::OrderCertificate proof{.bound = bound,
                                  .channelWeight = order.getChannelWeight().value_or(1.0),
                                  .ready = order.getReady(),
                                  .tail = order.getTail()};
  const auto numbers = order.getLines();
  for (std::size_t l = 0; l < proof.lines.size() && 2 * l + 1 < numbers.size(); ++l)
    proof.lines[l] = {.latency = numbers[2 * l], .secondsPerByte = numbers[2 * l + 1]};
  return proof;
}

static_assert(sync::maxCases == problem::OrderCertificate::maxCases);

/// The case, and the #sync.order of its case that proves least. Precondition: sync::isCase().
static std::pair<problem::OrderCertificate, sync::OrderAttr> caseOf(Attribute attr) {
  const sync::CaseRow row = *sync::caseRow(attr);
  if (row.proof)
    return {withoutCases(row.proof, row.bound), row.proof};
  const auto [one, oneOrder] = caseOf(row.first);
  const auto [other, otherOrder] = caseOf(row.second);
  problem::OrderCertificate both{.bound = std::min(one.bound, other.bound),
                                 .splits = static_cast<std::size_t>(row.layer),
                                 .other = row.other,
                                 .cases = {one, other}};
  return {both, one.bound <= other.bound ? oneOrder : otherOrder};
}

std::optional<problem::OrderCertificate> syncline::merge::toOrderProof(sync::SolutionOp op) {
  auto order = dyn_cast_or_null<sync::OrderAttr>(op.getCertificate().value_or(Attribute()));
  if (!order)
    return std::nullopt;
  const double bound = op.getBound().convertToDouble();
  const ArrayAttr cases = op.getCasesAttr();
  if (!cases)
    return withoutCases(order, bound);
  auto [proof, weakest] = caseOf(cases);
  if (weakest != order)
    return std::nullopt;
  proof.bound = bound;
  return proof;
}

std::optional<std::string> syncline::merge::rejectionOf(sync::ProblemOp op,
                                                        const problem::Problem &problem,
                                                        const problem::Solution &solution) {
  if (const std::optional<problem::OrderProblem> order = toOrderProblem(op, problem)) {
    if (Status valid = problem::validate(*order); !valid)
      return valid.message();
    auto rejection = proof::checkMessages(*order, solution);
    return rejection ? std::optional(rejection->message) : std::nullopt;
  }
  auto rejection = proof::checkSolution(problem, solution);
  return rejection ? std::optional(rejection->message) : std::nullopt;
}
