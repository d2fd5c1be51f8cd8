// Reading nccl-tuner.csv, a plan's choices for NCCL's messages. codegen/README.md describes
// its columns.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace syncline::nccl {

/// Collectives with NCCL's numbers.
enum class Collective { allGather = 2, reduceScatter = 3, allReduce = 4 };
enum class Algorithm { tree = 0, ring = 1 };
enum class Protocol { ll = 0, ll128 = 1, simple = 2 };

struct Row {
  Collective collective;
  std::int64_t minBytes, maxBytes; ///< both inclusive
  Algorithm algorithm;
  std::optional<Protocol> protocol; ///< none for NCCL's choice
  std::optional<int> channels;
  std::optional<std::int64_t> nodes, ranks; ///< none for any number
};

struct Table {
  std::vector<Row> rows;
};

/// Reads a table. Errors (badInput) state `name`, the line and the column: "nccl-tuner.csv:3:
/// algorithm: expected ring or tree, got 'star'".
Result<Table> readTable(std::istream &in, const std::string &name);

/// The first row that fits, or null. `bytes` counts elements as 4 bytes each.
const Row *find(const Table &table, int collective, std::int64_t bytes, std::int64_t nodes,
                std::int64_t ranks);

/// Restricts NCCL to the row's algorithm, and to its protocol if the row names one, in a cost table
/// of `algorithms` times `protocols`. Returns false and changes nothing where NCCL cannot use them.
bool leaveOnly(const Row &row, float *costs, int algorithms, int protocols);

} // namespace syncline::nccl
