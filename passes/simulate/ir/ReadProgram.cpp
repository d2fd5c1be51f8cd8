// Reads a program operation by operation.
#include "passes/simulate/ir/ReadProgram.h"

#include "passes/cost/WorkOf.h"
#include "passes/simulate/IssueOrder.h"

#include <set>

using namespace mlir;

namespace syncline::simulate {

namespace {

std::string nameOf(plan::BucketOp bucket) {
  std::vector<std::string> members;
  for (StringAttr member : bucket.getMembers().getAsRange<StringAttr>())
    members.push_back(member.str());
  return summary(members);
}

Phase phaseOf(plan::Phase phase) {
  switch (phase) {
  case plan::Phase::forward:
    return Phase::forward;
  case plan::Phase::backward:
    return Phase::backward;
  case plan::Phase::update:
    return Phase::update;
  }
  llvm_unreachable("every phase is named above");
}

/// Turns a program's operations into a scenario's.
class ProgramReader {
public:
  Result<Scenario> read(plan::ProgramOp program) {
    const auto buckets = program.getOps<plan::BucketOp>();
    scenario.messages.resize(static_cast<std::size_t>(llvm::range_size(buckets)));
    for (plan::BucketOp bucket : buckets)
      addBucket(bucket);
    seconds = secondHalves(program);
    for (auto [bucket, message] : seconds)
      if (const auto first = static_cast<std::size_t>(bucket); first < scenario.messages.size())
        addSecondHalf(scenario.messages, first);
    for (mlir::Operation &op : program.getBody().front())
      add(&op);
    SYNCLINE_TRY(named);
    SYNCLINE_TRY(validateUses(scenario));
    return std::move(scenario);
  }

private:
  using Kind = Operation::Kind;

  /// Adds a bucket's message. Buckets may be declared in any order, since operations name
  /// them by number. A number that is left out has a message that is never issued, which
  /// validateUses() refuses.
  void addBucket(plan::BucketOp bucket) {
    if (bucket.getId() >= scenario.messages.size())
      return;
    declared.insert(bucket.getId());
    const auto bytes = static_cast<std::int64_t>(bucket.getBytes());
    scenario.messages[bucket.getId()] = {.name = nameOf(bucket),
                                         .scheme = bucket.getScheme(),
                                         .bytes = bytes,
                                         .channel = static_cast<int>(bucket.getChannel())};
  }

  /// The message that the second half of a bucket is; -1 where it is one message.
  std::int64_t secondOf(std::uint64_t bucket) const {
    const auto found = seconds.find(static_cast<std::int64_t>(bucket));
    return found == seconds.end() ? -1 : static_cast<std::int64_t>(found->second);
  }

  void addStep(Kind kind, std::uint64_t bucket, double seconds = 0) {
    if (!isKnown(bucket) && named)
      named = Status::badInput("the program uses bucket " + std::to_string(bucket) +
                               ", which it does not declare");
    scenario.operations.push_back({.kind = kind,
                                   .phase = phase,
                                   .seconds = seconds,
                                   .work = problem::WorkClass::memory,
                                   .message = isKnown(bucket) ? static_cast<int>(bucket) : -1});
  }

  bool isKnown(std::uint64_t bucket) const { return declared.contains(bucket); }

  void addCompute(mlir::Operation *op) {
    scenario.operations.push_back({.phase = phase,
                                   .layer = plan::layerOf(op).str(),
                                   .seconds = plan::secondsOf(op),
                                   .work = cost::workOf(op)});
  }

  void add(mlir::Operation *op) {
    if (auto marker = dyn_cast<plan::PhaseOp>(op))
      phase = phaseOf(marker.getPhase());
    else if (isa<plan::CallOp, plan::PointwiseOp>(op))
      addCompute(op);
    else if (auto issue = dyn_cast<plan::IssueOp>(op))
      addStep(Kind::issue, issue.getBucket());
    else if (auto gather = dyn_cast<plan::GatherOp>(op))
      addGather(gather);
    else if (auto allGather = dyn_cast<plan::AllGatherOp>(op))
      addAllGather(allGather.getBucket());
    else if (auto wait = dyn_cast<plan::WaitOp>(op))
      addWait(wait);
    else if (auto update = dyn_cast<plan::UpdateOp>(op))
      addStep(Kind::update, update.getBucket(), plan::secondsOf(op));
  }

  void addSecond(Kind kind, std::int64_t message) {
    scenario.operations.push_back(
        {.kind = kind, .phase = phase, .message = static_cast<int>(message)});
  }

  void addAllGather(std::uint64_t bucket) {
    const std::int64_t second = secondOf(bucket);
    if (second < 0 && named)
      named = Status::badInput("the program gathers bucket " + std::to_string(bucket) +
                               ", which is not in halves");
    addSecond(Kind::issue, second);
  }

  void addWait(plan::WaitOp wait) {
    addStep(Kind::wait, wait.getBucket());
    if (const std::int64_t second = secondOf(wait.getBucket()); second >= 0)
      addSecond(Kind::wait, second);
  }

  void addGather(plan::GatherOp gather) {
    std::int64_t bytes = 0;
    for (Value factor : gather.getIns())
      bytes += plan::denseBytes(cast<MemRefType>(factor.getType()));
    if (isKnown(gather.getBucket()))
      scenario.messages[gather.getBucket()].bytes = bytes;
    addStep(Kind::issue, gather.getBucket());
  }

  Scenario scenario;
  Status named = Status::ok();                 ///< an error where an operation names no message
  std::set<std::uint64_t> declared;            ///< declared buckets
  std::map<std::int64_t, std::size_t> seconds; ///< messages that are second halves, by bucket
  Phase phase = Phase::forward;
};

} // namespace

std::map<std::int64_t, std::size_t> secondHalves(plan::ProgramOp program) {
  const auto buckets = program.getOps<plan::BucketOp>();
  std::map<std::int64_t, std::size_t> seconds;
  for (plan::BucketOp bucket : buckets)
    if (bucket.getHalved())
      seconds[static_cast<std::int64_t>(bucket.getId())] = 0;
  auto message = static_cast<std::size_t>(llvm::range_size(buckets));
  for (auto &[bucket, number] : seconds)
    number = message++;
  return seconds;
}

Result<Scenario> readProgram(plan::ProgramOp program) { return ProgramReader().read(program); }

} // namespace syncline::simulate
