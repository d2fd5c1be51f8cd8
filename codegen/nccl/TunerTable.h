// Writes nccl-tuner.csv, which tells NCCL's tuner plugin how to send a plan's messages.
// codegen/README.md describes its columns.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::codegen {

/// The table's name in a plan folder.
inline constexpr llvm::StringLiteral tunerTableName = "nccl-tuner.csv";

/// Two messages of equal bytes with different algorithms. They are buckets, or fragments where
/// weights travel in place of gradients. A tuner sees nothing of a message but its bytes, so both
/// travel by the algorithm of the first.
struct TunerClash {
  std::int64_t first, second; ///< numbers of the messages
  std::int64_t bytes;         ///< size of either
  std::string firstAlgorithm, secondAlgorithm;
};

struct TunerTable {
  std::string text;
  std::vector<TunerClash> clashes; ///< in the order of the second buckets
};

/// The table has one row for each size that all-reduces by `ring` or `tree` have, in the order of
/// the program's buckets, then one row for all its reduce-scatters and one for all its gathers.
/// Where weights travel, it has a row for each size of a fragment, and none for buckets. The
/// function is pure. Preconditions: check-plan accepts the program, and NCCL carries its messages.
TunerTable tunerTable(plan::ProgramOp program);

} // namespace syncline::codegen
