// The buckets of a step whose messages the next step waits for.
#pragma once

#include "runtime/core/StepTypes.h"

#include <set>
#include <span>
#include <vector>

namespace syncline::run {

/// A bucket is carried if its wait stands before its issue in the order of operations: the wait is
/// then for the message of the step before. Its section are the operations from its wait to its
/// update, or the wait alone where the message updates. While no message of the bucket is under
/// way, its section is left out.
class CarriedBuckets {
public:
  CarriedBuckets() = default;
  explicit CarriedBuckets(std::span<const core::OperationInfo> operations);

  /// Whether any bucket is carried.
  bool any() const { return !all.empty(); }
  /// Whether the operation is to be left out now.
  bool isLeftOut(std::size_t operation) const {
    return sections[operation] >= 0 && !underWay.contains(sections[operation]);
  }
  /// Whether the operation belongs to a section whose bucket is under way.
  bool isDue(std::size_t operation) const {
    return sections[operation] >= 0 && underWay.contains(sections[operation]);
  }
  bool isAnyUnderWay() const { return !underWay.empty(); }
  bool isCarried(int bucket) const { return all.contains(bucket); }
  bool isUnderWay(int bucket) const { return underWay.contains(bucket); }
  /// Whether a step that begins now leaves no operation out.
  bool areAllUnderWay() const { return underWay.size() == all.size(); }

  /// Notes that the operation has been run.
  void ran(std::size_t operation);

private:
  std::vector<int> sections;     ///< by operation: the bucket of its section, or -1
  std::vector<int> begins, ends; ///< by operation: the carried bucket that it issues, or -1; that
                                 ///< whose section it ends, or -1
  std::set<int> all, underWay;   ///< numbers of carried buckets
};

} // namespace syncline::run
