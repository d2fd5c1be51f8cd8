// Reading the table and looking up rows.
#include "runtime/cuda/tuner/Table.h"

#include <charconv>
#include <limits>
#include <map>
#include <string_view>

namespace syncline::nccl {

namespace {

constexpr std::string_view columns =
    "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks";

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = line.find(',', begin);
    fields.emplace_back(line.substr(begin, comma - begin));
    if (comma == std::string_view::npos)
      return fields;
    begin = comma + 1;
  }
}

/// Reads one line and keeps the first error.
class LineReader {
public:
  LineReader(std::vector<std::string> fields, std::string where)
      : fields(std::move(fields)), where(std::move(where)) {}

  template <typename T> T oneOf(const char *column, const std::map<std::string, T> &values) {
    const std::string &text = fields[next++];
    if (auto found = values.find(text); found != values.end())
      return found->second;
    std::string names;
    for (const auto &[name, value] : values)
      names += (names.empty() ? "" : ", ") + (name.empty() ? "nothing" : name);
    fail(column, "one of " + names, text);
    return T{};
  }

  std::int64_t number(const char *column, std::int64_t least) {
    const std::string &text = fields[next++];
    std::int64_t value = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stop != end || value < least)
      fail(column, "a whole number from " + std::to_string(least), text);
    return value;
  }

  std::optional<std::int64_t> limit(const char *column) {
    const std::int64_t value = number(column, -1);
    return value < 0 ? std::nullopt : std::optional(value);
  }

  const Status &status() const { return failure; }

private:
  void fail(const std::string &column, const std::string &expected, const std::string &got) {
    if (failure)
      failure = Status::badInput(where + column + ": expected " + expected + ", got '" + got + "'");
  }

  std::vector<std::string> fields;
  std::string where;
  std::size_t next = 0;
  Status failure;
};

Result<Row> readRow(const std::string &line, const std::string &where) {
  const std::vector<std::string> fields = split(line);
  const std::size_t expected = split(columns).size();
  if (fields.size() != expected)
    return Status::badInput(where + "expected " + std::to_string(expected) + " columns, got " +
                            std::to_string(fields.size()));
  LineReader reader(fields, where);
  Row row{};
  row.collective =
      reader.oneOf<Collective>("collective", {{"allreduce", Collective::allReduce},
                                              {"reducescatter", Collective::reduceScatter},
                                              {"allgather", Collective::allGather}});
  row.minBytes = reader.number("min_bytes", 0);
  row.maxBytes = reader.limit("max_bytes").value_or(std::numeric_limits<std::int64_t>::max());
  row.algorithm =
      reader.oneOf<Algorithm>("algorithm", {{"ring", Algorithm::ring}, {"tree", Algorithm::tree}});
  row.protocol = reader.oneOf<std::optional<Protocol>>("protocol", {{"", std::nullopt},
                                                                    {"simple", Protocol::simple},
                                                                    {"ll", Protocol::ll},
                                                                    {"ll128", Protocol::ll128}});
  if (const auto channels = reader.limit("channels"))
    row.channels = static_cast<int>(*channels);
  row.nodes = reader.limit("nodes");
  row.ranks = reader.limit("ranks");
  return reader.status() ? Result<Row>(row) : Result<Row>(reader.status());
}

} // namespace

Result<Table> readTable(std::istream &in, const std::string &name) {
  Table table;
  bool hasColumns = false;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string where = name + ":" + std::to_string(number) + ": ";
    if (line.starts_with('#'))
      continue;
    if (!hasColumns) {
      if (line != columns)
        return Status::badInput(where + "expected columns '" + std::string(columns) + "', got '" +
                                line + "'");
      hasColumns = true;
      continue;
    }
    SYNCLINE_TRY_GET(row, readRow(line, where));
    table.rows.push_back(*row);
  }
  if (!hasColumns)
    return Status::badInput(name + ": no columns are named");
  return table;
}

const Row *find(const Table &table, int collective, std::int64_t bytes, std::int64_t nodes,
                std::int64_t ranks) {
  for (const Row &row : table.rows)
    if (static_cast<int>(row.collective) == collective && bytes >= row.minBytes &&
        bytes <= row.maxBytes && row.nodes.value_or(nodes) == nodes &&
        row.ranks.value_or(ranks) == ranks)
      return &row;
  return nullptr;
}

bool leaveOnly(const Row &row, float *costs, int algorithms, int protocols) {
  const auto isWanted = [&](int algorithm, int protocol) {
    return algorithm == static_cast<int>(row.algorithm) &&
           (!row.protocol || protocol == static_cast<int>(*row.protocol));
  };
  bool isThere = false;
  for (int a = 0; a < algorithms; ++a)
    for (int p = 0; p < protocols; ++p)
      isThere = isThere || (isWanted(a, p) && costs[a * protocols + p] >= 0);
  for (int a = 0; isThere && a < algorithms; ++a)
    for (int p = 0; p < protocols; ++p)
      if (!isWanted(a, p))
        costs[a * protocols + p] = -1;
  return isThere;
}

} // namespace syncline::nccl
