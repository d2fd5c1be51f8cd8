// nccl-tuner.csv: how NCCL is to send a plan's messages, for a tuner plugin to read. Its columns
// are in codegen/README.md.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline {

/// The table's name in a plan folder.
inline constexpr llvm::StringLiteral tunerTableName = "nccl-tuner.csv";

/// Two buckets of as many bytes by different algorithms. A tuner learns nothing of a message but
/// its bytes, so that both go by the algorithm of the first.
struct TunerClash {
  std::int64_t first, second; ///< numbers of the buckets
  std::int64_t bytes;         ///< of either
  std::string firstAlgorithm, secondAlgorithm;
};

struct TunerTable {
  std::string text;
  std::vector<TunerClash> clashes; ///< in the order of the second buckets
};

/// One row for each size that all-reduces of the program have, in the order of its buckets, then
/// one for all its reduce-scatters and one for all its gathers. Pure. Preconditions: check-plan
/// accepts the program; NCCL carries its messages.
TunerTable tunerTable(plan::ProgramOp program, cluster::NcclAttr nccl);

} // namespace syncline
