// Rule P7 on channels: each issues its buckets in order, so that no rank waits for ever.
#include "passes/check/PlanFacts.h"

using namespace mlir;

namespace syncline::check {

namespace {

/// What a bucket's arrival needs first.
struct Need {
  std::int64_t bucket = -1;
  Operation *wait = nullptr; ///< that stands before the issue; null: the bucket is of its channel
};

/// Buckets of which each needs the next one's arrival. A channel carries a bucket behind those of
/// smaller numbers, and an issue stands behind the waits before it. If all buckets are issued by
/// number on each channel, and before they are waited for, each need was issued earlier: there is
/// no circle.
class Needs {
public:
  explicit Needs(const PlanFacts &facts) : facts(facts) {
    std::map<std::uint64_t, std::int64_t> last;
    for (auto [number, bucket] : facts.buckets) {
      auto [place, isFirst] = last.try_emplace(bucket.getChannel(), number);
      if (!isFirst)
        before[number] = std::exchange(place->second, number);
    }
  }

  /// The buckets of a circle, each with what it needs next; empty where there is none.
  std::vector<std::pair<std::int64_t, Need>> circle() {
    for (auto &[number, bucket] : facts.buckets)
      if (follow(number))
        return {path.begin() + begin, path.end()};
    return {};
  }

private:
  /// Whether a circle begins on the way from this bucket.
  bool follow(std::int64_t number) {
    if (auto found = places.find(number); found != places.end()) {
      begin = found->second;
      return begin >= 0;
    }
    places[number] = static_cast<std::ptrdiff_t>(path.size());
    auto found = before.find(number);
    if (found != before.end() && goOn(number, {found->second}))
      return true;
    for (auto &[other, waits] : facts.waits)
      if (!facts.isCarried(other) && waits.front() < PlanFacts::only(facts.issues, number) &&
          goOn(number, {other, facts.steps[waits.front()].op}))
        return true;
    places[number] = -1; // no circle on any way from here
    return false;
  }

  bool goOn(std::int64_t number, const Need &need) {
    path.emplace_back(number, need);
    if (follow(need.bucket))
      return true;
    path.pop_back();
    return false;
  }

  const PlanFacts &facts;
  std::map<std::int64_t, std::int64_t> before;   ///< by bucket: the one before it on its channel
  std::map<std::int64_t, std::ptrdiff_t> places; ///< index in `path`; -1: followed to all ends
  std::vector<std::pair<std::int64_t, Need>> path;
  std::ptrdiff_t begin = -1; ///< index in `path` where the circle begins
};

/// Names the buckets that wait for each other, where there are such.
void explain(InFlightDiagnostic &rejected, const PlanFacts &facts) {
  for (auto [number, need] : Needs(facts).circle()) {
    if (need.wait)
      rejected.attachNote(need.wait->getLoc())
          << "no rank goes on: bucket " << number << " is issued behind this wait for bucket "
          << need.bucket;
    else
      rejected.attachNote(plan::BucketOp(facts.buckets.at(number)).getLoc())
          << "no rank goes on: bucket " << number << " travels behind bucket " << need.bucket
          << " of its channel";
  }
}

} // namespace

LogicalResult checkChannels(const PlanFacts &facts) {
  std::map<std::uint64_t, std::int64_t> lastOnChannel;
  for (auto [number, bucket] : facts.buckets) {
    const auto issue = PlanFacts::only(facts.issues, number);
    auto [place, isFirst] = lastOnChannel.try_emplace(bucket.getChannel(), issue);
    if (!isFirst && issue < place->second) {
      InFlightDiagnostic rejected = facts.steps[issue].op->emitOpError("P7: bucket ")
                                    << number << " is issued before an earlier one of its channel";
      rejected.attachNote(facts.steps[place->second].op->getLoc())
          << "the earlier one is issued here";
      explain(rejected, facts);
      return rejected;
    }
    place->second = issue;
  }
  return success();
}

} // namespace syncline::check
