// Rule P35: rows that are added to a gradient of another bucket.
#include "passes/check/PlanFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace syncline::check {

namespace {

/// Judges one gradient that travels in two parts. Precondition: P7, P8 and P11 hold.
class RowsPartRule {
public:
  RowsPartRule(const PlanFacts &facts, const RowsPart &part)
      : facts(facts), part(part), bucket(facts.buckets.at(part.bucket)) {}

  LogicalResult check() {
    if (plan::ProgramOp(facts.program).getOverlap())
      return bucket.emitOpError("P35: brings rows that are added to another gradient, but the "
                                "program's steps overlap");
    if (part.sum < 0)
      return reject(bucket, "P35: no loop adds the rows to '" + name() + "'", part.gradient,
                    "this gradient");
    return failure(failed(checkSize()) || failed(checkPlace()) || failed(checkAdded()));
  }

private:
  StringRef name() const { return plan::TensorOp(part.gradient).getName(); }

  /// The rows have no interval of their own, and count with the bytes that are gathered.
  LogicalResult checkSize() {
    std::int64_t bytes = 0;
    for (plan::TensorOp factor : facts.steps[PlanFacts::only(facts.issues, part.bucket)].reads)
      bytes += plan::denseBytes(cast<MemRefType>(factor.getType()));
    if (bucket.getExtent() == 0 && static_cast<std::int64_t>(bucket.getBytes()) == bytes)
      return success();
    return bucket.emitOpError("P35: expected no extent, and the ")
           << bytes << " B that a rank gathers, got an extent of " << bucket.getExtent() << " and "
           << bucket.getBytes() << " B";
  }

  /// The loop stands behind the waits for both parts, before the update that takes their sum.
  LogicalResult checkPlace() {
    Operation *sum = facts.steps[part.sum].op;
    for (auto [number, other] : facts.buckets) {
      const bool isDense = llvm::is_contained(
          plan::BucketOp(other).getMembers().getAsValueRange<StringAttr>(), name());
      if (!isDense && number != part.bucket)
        continue;
      const std::int64_t wait = PlanFacts::only(facts.waits, number),
                         update = PlanFacts::only(facts.updates, number);
      if (part.sum < wait)
        return reject(sum,
                      "P35: adds rows to '" + name() + "' before bucket " + llvm::Twine(number) +
                          " has arrived",
                      facts.steps[wait].op, "waited for here");
      if (isDense && (update < 0 || part.sum > update))
        return reject(sum, "P35: adds rows to '" + name() + "' behind its update",
                      update < 0 ? plan::BucketOp(other).getOperation() : facts.steps[update].op,
                      update < 0 ? "whose message updates" : "updated here");
    }
    for (std::int64_t writer : facts.writers.lookup(part.gradient))
      if (writer > part.sum)
        return reject(facts.steps[writer].op,
                      "P35: writes '" + name() + "' behind the sum with its rows", sum, "this one");
    return success();
  }

  /// The loop adds, and what it adds are the sums of the rows that the bucket brings.
  LogicalResult checkAdded() {
    auto loop = cast<plan::PointwiseOp>(facts.steps[part.sum].op);
    Block &body = loop.getBody().front();
    auto add = dyn_cast<arith::AddFOp>(body.front());
    const bool adds = add && loop.getFlat() && body.getOperations().size() == 2 &&
                      add.getLhs() != add.getRhs() && isa<BlockArgument>(add.getLhs()) &&
                      isa<BlockArgument>(add.getRhs()) &&
                      llvm::equal(body.getTerminator()->getOperands(), add->getResults());
    if (!adds)
      return reject(loop, "P35: expected the sum of '" + name() + "' and rows", bucket,
                    "which brings the rows");
    const Version rows = facts.readBy(part.sum, part.rows);
    plan::CallOp writer = facts.writerOf(rows);
    const Step &gather = facts.steps[PlanFacts::only(facts.issues, part.bucket)];
    if (writer && writer.getCallee() == plan::Kernel::embeddingBackward &&
        llvm::equal(facts.steps[rows.writer].reads, gather.writes) &&
        rows.writer > PlanFacts::only(facts.waits, part.bucket))
      return success();
    return reject(loop,
                  "P35: adds '" + plan::TensorOp(part.rows).getName() + "' to '" + name() +
                      "', which are not the sums of the rows that bucket " +
                      llvm::Twine(part.bucket) + " brings",
                  gather.op, "gathered here");
  }

  const PlanFacts &facts;
  const RowsPart &part;
  plan::BucketOp bucket;
};

} // namespace

LogicalResult checkRowsParts(const PlanFacts &facts) {
  for (const auto &[parameter, part] : facts.rowsParts)
    if (failed(RowsPartRule(facts, part).check()))
      return failure();
  return success();
}

} // namespace syncline::check
