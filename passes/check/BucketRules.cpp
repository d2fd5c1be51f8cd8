// Rules about buckets: P5, P7, P8, P11, P12.
#include "passes/check/PlanFacts.h"

#include "syncline/RowsPart.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::check {

namespace {

/// A member of a bucket, with its parameter and its gradient. A gradient that is cut is a member of
/// several buckets.
struct Member {
  plan::BucketOp bucket;
  plan::TensorOp parameter, gradient;
};

class BucketRules {
public:
  explicit BucketRules(const PlanFacts &facts) : facts(facts) {}

  LogicalResult check() {
    return failure(failed(matchMembers()) || failed(checkEachOnce()) ||
                   failed(checkChannels(facts)) || failed(checkComplete()) ||
                   failed(checkUndisturbed()) || failed(checkLayout()));
  }

private:
  /// Rule P8: names pair up parameters, gradients and the buckets' lists.
  LogicalResult matchMembers() {
    llvm::StringMap<plan::TensorOp> parameters, gradients;
    for (plan::TensorOp tensor : facts.tensors) {
      if (tensor.getSpace() != plan::Space::parameters &&
          tensor.getSpace() != plan::Space::gradients)
        continue;
      auto &names = tensor.getSpace() == plan::Space::parameters ? parameters : gradients;
      auto [place, isNew] = names.try_emplace(tensor.getName(), tensor);
      if (!isNew)
        return reject(tensor, "P8: '" + tensor.getName() + "' is declared twice", place->second,
                      "first here");
    }
    llvm::StringMap<plan::BucketOp> listed, listedLast; // by gradient: buckets that list it
    for (auto [number, bucket] : facts.buckets)
      for (auto name : bucket.getMembers().getAsRange<StringAttr>()) {
        if (isRowsPart(name.getValue())) {
          if (failed(checkRowsMember(bucket, gradients.lookup(parameterOf(name.getValue())))))
            return failure();
          continue;
        }
        const Member member{bucket, parameters.lookup(name), gradients.lookup(name)};
        plan::BucketOp first = listed.try_emplace(name.getValue(), bucket).first->second;
        const bool isPart = first == bucket || (partOf(first, member.gradient) > 0 &&
                                                partOf(bucket, member.gradient) > 0);
        if (std::exchange(listedLast[name.getValue()], bucket) == bucket || !isPart)
          return reject(bucket, "P8: gradient '" + name.getValue() + "' is synchronised twice",
                        first, "first by this bucket");
        if (failed(checkMember(member, name.getValue(), first)))
          return failure();
        members.push_back(member);
      }
    for (plan::TensorOp tensor : facts.tensors)
      if (tensor.getBucket() && !listed.count(tensor.getName()))
        return tensor.emitOpError("P8: '") << tensor.getName() << "' is synchronised by no bucket";
    return success();
  }

  /// Rule P35: rows that are added to another bucket's gradient travel by themselves.
  LogicalResult checkRowsMember(plan::BucketOp bucket, plan::TensorOp gradient) const {
    auto name = cast<StringAttr>(bucket.getMembers()[0]).getValue();
    if (bucket.getMembers().size() != 1 || !hasRows(bucket.getScheme()))
      return bucket.emitOpError("P35: expected rows to travel alone, by '")
             << listOf(schemesWhere<hasRows>) << "'";
    if (!gradient)
      return bucket.emitOpError("P35: brings '") << name << "', but there is no such gradient";
    const RowsPart &part = *facts.rowsOf(gradient.getName());
    if (part.bucket != static_cast<std::int64_t>(bucket.getId()))
      return reject(bucket, "P35: brings '" + name + "', which another bucket brings too",
                    facts.buckets.at(part.bucket), "this one");
    return success();
  }

  /// Whether the bucket brings only rows, which are part of another bucket's update.
  static bool bringsRows(plan::BucketOp bucket) {
    return isRowsPart(cast<StringAttr>(bucket.getMembers()[0]).getValue());
  }

  LogicalResult checkMember(const Member &member, StringRef name, plan::BucketOp first) {
    plan::BucketOp bucket = member.bucket;
    plan::TensorOp parameter = member.parameter, gradient = member.gradient;
    if (!parameter || !gradient)
      return bucket.emitOpError("P8: member '")
             << name << "' has no " << (parameter ? "gradient" : "parameter") << " of that name";
    for (plan::TensorOp tensor : {parameter, gradient})
      if (tensor.getBucket() != first.getId())
        return reject(tensor, "P8: expected bucket " + llvm::Twine(first.getId()), first,
                      "which lists '" + name + "'");
    if (parameter.getType() != gradient.getType())
      return reject(gradient, "P8: '" + name + "' has another type than its parameter", parameter,
                    "the parameter");
    return success();
  }

  LogicalResult checkOnce(const Places &places, std::int64_t number, StringRef rule,
                          StringRef what) const {
    auto found = places.find(number);
    plan::BucketOp bucket = facts.buckets.at(number);
    if (found == places.end())
      return bucket.emitOpError(rule) << ": bucket " << number << " is never " << what;
    if (found->second.size() > 1)
      return reject(facts.steps[found->second[1]].op,
                    rule + ": bucket " + llvm::Twine(number) + " is " + what + " twice",
                    facts.steps[found->second[0]].op, "first here");
    return success();
  }

  /// Rules P7 and P11: a bucket has one issue, one wait and one update, in this order. Rule P17: it
  /// has no update where the message updates.
  LogicalResult checkEachOnce() const {
    for (auto [number, bucket] : facts.buckets) {
      if (failed(checkOnce(facts.issues, number, "P7", "issued")) ||
          failed(checkOnce(facts.waits, number, "P11", "waited for")))
        return failure();
      auto updates = facts.updates.find(number);
      if (plan::updatesItself(bucket) && updates != facts.updates.end())
        return reject(facts.steps[updates->second.front()].op,
                      "P17: updates bucket " + llvm::Twine(number) + ", whose message does", bucket,
                      "by this scheme");
      if (bringsRows(bucket) && updates != facts.updates.end())
        return reject(facts.steps[updates->second.front()].op,
                      "P35: updates bucket " + llvm::Twine(number) +
                          ", whose rows are part of another bucket's update",
                      bucket, "declared here");
      if (!plan::updatesItself(bucket) && !bringsRows(bucket) &&
          failed(checkOnce(facts.updates, number, "P11", "updated")))
        return failure();
      const auto issue = PlanFacts::only(facts.issues, number),
                 wait = PlanFacts::only(facts.waits, number),
                 update = PlanFacts::only(facts.updates, number);
      const bool isCarried = wait < issue && plan::ProgramOp(facts.program).getOverlap();
      if (wait < issue && !isCarried)
        return reject(facts.steps[wait].op,
                      "P11: waits for bucket " + llvm::Twine(number) + " before it is issued",
                      facts.steps[issue].op, "issued here");
      if (update >= 0 && update < wait)
        return reject(facts.steps[update].op,
                      "P11: updates bucket " + llvm::Twine(number) + " before it has arrived",
                      facts.steps[wait].op, "waited for here");
      if (isCarried && update > issue)
        return reject(facts.steps[update].op,
                      "P11: updates bucket " + llvm::Twine(number) +
                          ", of the step before, after it is issued again",
                      facts.steps[issue].op, "issued here");
    }
    return success();
  }

  /// Rule P7: every member is written before the issue and not after it.
  LogicalResult checkComplete() const {
    for (Member member : members) {
      if (plan::travelsByFactors(member.bucket))
        continue; // P16 judges these
      plan::TensorOp gradient = member.gradient;
      const std::int64_t number = member.bucket.getId();
      const auto issue = PlanFacts::only(facts.issues, number);
      auto written = facts.writers.find(gradient);
      if (written == facts.writers.end())
        return reject(facts.steps[issue].op,
                      "P7: issues bucket " + llvm::Twine(number) + ", but nothing writes '" +
                          gradient.getName() + "'",
                      gradient, "this gradient");
      llvm::SmallVector<std::int64_t, 4> own(written->second);
      if (const RowsPart *rows = facts.rowsOf(gradient.getName())) // P35 judges their sum
        llvm::erase(own, rows->sum);
      if (own.empty())
        return reject(facts.steps[issue].op,
                      "P7: issues bucket " + llvm::Twine(number) +
                          ", but only rows are added to '" + gradient.getName() + "'",
                      gradient, "this gradient");
      const std::int64_t last = own.back();
      // A write between issue and wait breaks P5 instead.
      if (last > issue && (!facts.isInFlight(number, last) || own.front() > issue))
        return reject(facts.steps[issue].op,
                      "P7: issues bucket " + llvm::Twine(number) + " before '" +
                          gradient.getName() + "' is complete",
                      facts.steps[last].op, "written here");
    }
    return success();
  }

  /// Rule P5: no step touches a gradient in flight, and none reads a parameter after its update.
  /// P17 judges parameters that a message updates.
  LogicalResult checkUndisturbed() const {
    for (Member member : members) {
      const std::int64_t number = member.bucket.getId();
      const auto issue = PlanFacts::only(facts.issues, number),
                 update = PlanFacts::only(facts.updates, number);
      for (const auto *accesses : {&facts.readers, &facts.writers}) {
        auto found = accesses->find(member.gradient);
        if (found == accesses->end() || plan::travelsByFactors(member.bucket))
          continue; // factors are in flight instead of the gradients; P15 judges them
        for (std::int64_t step : found->second)
          if (facts.isInFlight(number, step))
            return reject(facts.steps[step].op,
                          "P5: touches '" + member.gradient.getName() + "' while bucket " +
                              llvm::Twine(number) + " is in flight",
                          facts.steps[issue].op, "issued here");
      }
      auto readers = facts.readers.find(member.parameter);
      if (update >= 0 && facts.isCarried(number)) {
        if (readers != facts.readers.end() && readers->second.front() < update)
          return reject(facts.steps[readers->second.front()].op,
                        "P5: reads parameter '" + member.parameter.getName() +
                            "' before its update by the message of the step before",
                        facts.steps[update].op, "updated here");
      } else if (update >= 0 && readers != facts.readers.end() && readers->second.back() > update)
        return reject(facts.steps[readers->second.back()].op,
                      "P5: reads parameter '" + member.parameter.getName() + "' after its update",
                      facts.steps[update].op, "updated here");
    }
    return success();
  }

  /// Rule P12: the places of intervals, members and parameters.
  LogicalResult checkLayout() {
    std::map<std::int64_t, std::int64_t> bytes;
    llvm::DenseMap<Operation *, std::int64_t> carried; // bytes of a gradient in all its buckets
    for (Member member : members)
      carried[member.gradient] += partOf(member.bucket, member.gradient);
    for (Member member : members) {
      plan::TensorOp gradient = member.gradient, parameter = member.parameter;
      plan::BucketOp bucket = member.bucket;
      if (carried[gradient] < static_cast<std::int64_t>(gradient.getReserve()))
        return reject(gradient, "P12: lies outside its bucket's interval", bucket, "the bucket");
      if (gradient.getOffset() != parameter.getOffset() ||
          gradient.getReserve() != parameter.getReserve())
        return reject(parameter, "P12: expected the place of its gradient", gradient,
                      "the gradient");
      bytes[bucket.getId()] += densePartOf(bucket, gradient);
    }
    for (auto [number, bucket] : facts.buckets)
      if (!bringsRows(bucket) && bytes[number] != static_cast<std::int64_t>(bucket.getBytes()))
        return bucket.emitOpError("P12: expected the members' ")
               << bytes[number] << " bytes, got " << bucket.getBytes();
    llvm::stable_sort(members, [](Member a, Member b) {
      return a.gradient.getOffset() < b.gradient.getOffset();
    });
    for (size_t i = 1; i < members.size(); ++i) {
      plan::TensorOp before = members[i - 1].gradient, after = members[i].gradient;
      if (before != after && end(before) > static_cast<std::int64_t>(after.getOffset()))
        return reject(after, "P12: overlaps another gradient", before, "this one");
    }
    return checkIntervals();
  }

  LogicalResult checkIntervals() const {
    llvm::SmallVector<plan::BucketOp> sorted;
    for (auto [number, bucket] : facts.buckets)
      if (!bringsRows(bucket)) // it has no interval
        sorted.push_back(bucket);
    llvm::stable_sort(
        sorted, [](plan::BucketOp a, plan::BucketOp b) { return a.getOffset() < b.getOffset(); });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (end(sorted[i - 1]) > static_cast<std::int64_t>(sorted[i].getOffset()))
        return reject(sorted[i], "P12: overlaps another bucket", sorted[i - 1], "this one");
    return success();
  }

  const PlanFacts &facts;
  llvm::SmallVector<Member, 0> members;
};

} // namespace

LogicalResult checkBuckets(const PlanFacts &facts) { return BucketRules(facts).check(); }

} // namespace syncline::check
