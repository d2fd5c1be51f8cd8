// nccl-tuner.csv, read: what a plan chose for NCCL's messages. Its columns are in
// codegen/README.md.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace syncline::nccl {

/// NCCL's numbers.
enum class Collective { allGather = 2, reduceScatter = 3, allReduce = 4 };
enum class Algorithm { tree = 0, ring = 1 };
enum class Protocol { ll = 0, ll128 = 1, simple = 2 };

struct Row {
  Collective collective;
  std::int64_t minBytes, maxBytes; ///< both included
  Algorithm algorithm;
  std::optional<Protocol> protocol; ///< none: NCCL's choice for the algorithm
  std::optional<int> channels;
  std::optional<std::int64_t> nodes, ranks; ///< none: any
};

struct Table {
  std::vector<Row> rows;
};

/// Errors (badInput) name `name`, the line and the column: "nccl-tuner.csv:3: algorithm: expected
/// ring or tree, got 'star'".
Result<Table> readTable(std::istream &in, const std::string &name);

/// The first row that fits, null where none does. `bytes` as those of elements of 4 bytes.
const Row *find(const Table &table, int collective, std::int64_t bytes, std::int64_t nodes,
                std::int64_t ranks);

/// Leaves NCCL nothing but the row's algorithm, and its protocol if it names one, in a table of
/// costs of `algorithms` times `protocols`; false, and nothing changes, where NCCL cannot use them.
bool leaveOnly(const Row &row, float *costs, int algorithms, int protocols);

} // namespace syncline::nccl
