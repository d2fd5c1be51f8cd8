// Finds the sections of carried buckets and follows what is under way.
#include "runtime/run/weights/CarriedBuckets.h"

#include <map>

namespace syncline::run {

CarriedBuckets::CarriedBuckets(std::span<const core::OperationInfo> operations)
    : sections(operations.size(), -1), begins(operations.size(), -1), ends(operations.size(), -1) {
  struct Section {
    std::size_t first = 0, last = 0;
  };
  std::map<int, Section> open; // buckets that were waited for and not issued
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const int bucket = operations[i].bucket;
    switch (operations[i].kind) {
    case core::OperationKind::wait:
      open[bucket] = {i, i};
      break;
    case core::OperationKind::update:
      if (const auto found = open.find(bucket); found != open.end())
        found->second.last = i;
      break;
    case core::OperationKind::issue:
    case core::OperationKind::gather:
      if (const auto found = open.find(bucket); found != open.end()) {
        const auto [first, last] = found->second;
        for (std::size_t at = first; at <= last; ++at)
          sections[at] = bucket;
        ends[last] = bucket;
        begins[i] = bucket;
        all.insert(bucket);
      }
      break;
    case core::OperationKind::allGather: // in the step of its issue
    case core::OperationKind::compute:
      break;
    }
  }
}

void CarriedBuckets::ran(std::size_t operation) {
  if (ends[operation] >= 0)
    underWay.erase(ends[operation]);
  if (begins[operation] >= 0)
    underWay.insert(begins[operation]);
}

} // namespace syncline::run
