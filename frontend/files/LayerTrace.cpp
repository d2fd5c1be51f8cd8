// Reads layers from CSV rows and checks them cell by cell.
#include "frontend/files/LayerTrace.h"

#include "frontend/files/Csv.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace syncline::files {
namespace {

constexpr std::size_t maxTraceBytes = 64u << 20;
/// Sums of gradients must fit in 63 bits.
constexpr std::int64_t maxTotalBytes = std::int64_t{1} << 60;
constexpr std::int64_t maxExtent = std::int64_t{1} << 31;

constexpr std::array<std::string_view, 12> knownColumns = {
    "name", "bytes",  "forward", "backward", "M",           "N",
    "K",    "update", "gather",  "gathered", "reconstruct", "carrier"};
constexpr std::size_t requiredColumns = 4, factorColumns = 7, updateColumns = 8;
constexpr std::string_view readerColumn = "reader"; ///< the last one, behind any of the others

class Reader {
public:
  explicit Reader(std::string_view fileName) : fileName(fileName) {}

  Status header(const CsvRow &row) {
    hasReaders = row.cells.back() == readerColumn;
    const std::size_t size = row.cells.size() - (hasReaders ? 1 : 0);
    const bool sized = size == requiredColumns || size == factorColumns || size == updateColumns ||
                       size == knownColumns.size();
    if (!sized ||
        !std::equal(knownColumns.begin(), knownColumns.begin() + static_cast<std::ptrdiff_t>(size),
                    row.cells.begin())) {
      std::string got;
      for (const std::string &cell : row.cells)
        got += (got.empty() ? "" : ",") + cell;
      return error(
          row.line, "",
          "expected the header 'name,bytes,forward,backward[,M,N,K[,update[,gather,gathered,"
          "reconstruct,carrier]]][,reader]', got '" +
              got.substr(0, 80) + "'");
    }
    columns = size;
    trace.isOfStep = columns == knownColumns.size();
    return Status::ok();
  }

  Status layer(const CsvRow &row) {
    if (const std::size_t size = columns + (hasReaders ? 1 : 0); row.cells.size() != size)
      return error(row.line, "",
                   "expected " + std::to_string(size) + " cells, got " +
                       std::to_string(row.cells.size()));
    TraceLayer layer;
    layer.name = row.cells[0];
    if (layer.name.empty())
      return error(row.line, knownColumns[0], "expected a name, got nothing");
    const auto [first, isNew] = lineOf.emplace(layer.name, row.line);
    if (!isNew)
      return error(row.line, knownColumns[0],
                   "expected unique names, got '" + layer.name + "' again (first in line " +
                       std::to_string(first->second) + ")");
    SYNCLINE_TRY(cell(row, 1, parseBytes, layer.bytes));
    SYNCLINE_TRY(cell(row, 2, parseSeconds, layer.forward));
    SYNCLINE_TRY(cell(row, 3, parseSeconds, layer.backward));
    SYNCLINE_TRY(factors(row, layer.factors));
    if (columns >= updateColumns && !row.cells[factorColumns].empty())
      SYNCLINE_TRY(cell(row, factorColumns, parseSeconds, layer.update));
    SYNCLINE_TRY(gathered(row, layer));
    if (hasReaders)
      layer.reader = row.cells.back();
    total += layer.bytes;
    if (total > maxTotalBytes)
      return error(row.line, knownColumns[1],
                   "expected at most 1 EiB of gradients in all, got more");
    placeOf[layer.name] = trace.layers.size();
    trace.layers.push_back(std::move(layer));
    return Status::ok();
  }

  /// Checks what layers say of each other.
  Status finish() {
    for (const TraceLayer &layer : trace.layers) {
      if (!layer.reader.empty() && !placeOf.contains(layer.reader))
        return error(lineOf[layer.name], readerColumn,
                     "expected a layer, got '" + layer.reader + "'");
      if (layer.carrier.empty())
        continue;
      const auto carrier = placeOf.find(layer.carrier);
      const bool isGathered = carrier != placeOf.end() && trace.layers[carrier->second].gathered;
      if (!isGathered || layer.carrier == layer.name)
        return error(lineOf[layer.name], "carrier",
                     "expected another layer that is gathered, got '" + layer.carrier + "'");
    }
    return Status::ok();
  }

  LayerTrace trace;

private:
  Status error(std::size_t line, std::string_view column, const std::string &message) const {
    std::string where = std::string(fileName) + ":" + std::to_string(line) + ":";
    if (!column.empty())
      where += std::string(column) + ":";
    return Status::badInput(where + " " + message);
  }

  template <typename T>
  Status cell(const CsvRow &row, std::size_t column, Result<T> (*parse)(std::string_view),
              T &target) const {
    Result<T> value = parse(row.cells[column]);
    if (!value)
      return error(row.line, knownColumns[column], value.status().message());
    target = *value;
    return Status::ok();
  }

  /// M, N and K: all three or, for a layer that is not fully connected, none.
  Status factors(const CsvRow &row, std::optional<FactorShape> &target) const {
    if (columns == requiredColumns)
      return Status::ok();
    if (row.cells[4].empty() && row.cells[5].empty() && row.cells[6].empty())
      return Status::ok();
    std::array<std::int64_t, 3> shape{};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t column = requiredColumns + i;
      Result<std::int64_t> value = parseCount(row.cells[column], "elements", maxExtent);
      if (!value)
        return error(row.line, knownColumns[column], value.status().message());
      shape[i] = *value;
    }
    target = FactorShape{shape[0], shape[1], shape[2]};
    return Status::ok();
  }

  /// What is gathered in place of the gradient: scheme and bytes or neither.
  Status gathered(const CsvRow &row, TraceLayer &layer) const {
    if (columns < knownColumns.size())
      return Status::ok();
    const std::string &scheme = row.cells[8];
    if (!scheme.empty() || !row.cells[9].empty()) {
      const std::optional<Scheme> known = parseScheme(scheme);
      if (!known || !isGathered(*known))
        return error(row.line, knownColumns[8],
                     "expected " + listOf(schemesWhere<isGathered>) + ", got '" + scheme + "'");
      layer.gathered = GatheredForm{*known, 0};
      SYNCLINE_TRY(cell(row, 9, parseBytes, layer.gathered->bytes));
      if (layer.gathered->bytes < 1)
        return error(row.line, knownColumns[9], "expected at least 1 byte, got 0");
    }
    layer.carrier = row.cells[11];
    if (layer.bytes == 0 && (layer.gathered || !layer.carrier.empty()))
      return error(row.line, knownColumns[1], "expected a gradient where one is gathered, got 0 B");
    if (row.cells[10].empty())
      return Status::ok();
    if (!layer.gathered && layer.carrier.empty())
      return error(row.line, knownColumns[10],
                   "expected nothing for a gradient that is not gathered");
    return cell(row, 10, parseSeconds, layer.reconstruct);
  }

  std::string_view fileName;
  std::size_t columns = 0; ///< without `reader`
  bool hasReaders = false;
  std::int64_t total = 0;
  std::unordered_map<std::string, std::size_t> lineOf, placeOf;
};

} // namespace

Result<LayerTrace> parseLayerTrace(std::string_view text, std::string_view fileName) {
  SYNCLINE_TRY_GET(checked, checkText(text, fileName));
  SYNCLINE_TRY_GET(rows, parseCsv(*checked, fileName));
  if (rows->empty())
    return Status::badInput(std::string(fileName) + ": expected a layer trace, got an empty file");
  Reader reader(fileName);
  SYNCLINE_TRY(reader.header(rows->front()));
  if (rows->size() == 1)
    return Status::badInput(std::string(fileName) + ": expected at least one layer, got none");
  reader.trace.layers.reserve(rows->size() - 1);
  for (auto row = rows->begin() + 1; row != rows->end(); ++row)
    SYNCLINE_TRY(reader.layer(*row));
  SYNCLINE_TRY(reader.finish());
  return std::move(reader.trace);
}

/// A cell as it is, or quoted where a reader would change it otherwise.
static std::string quoted(const std::string &cell) {
  const bool isPlain = cell.find_first_of(",\"\r\n") == std::string::npos &&
                       cell.find_first_of(" \t") == std::string::npos;
  return isPlain ? cell : csvQuoted(cell);
}

std::string formatLayerTrace(const LayerTrace &trace) {
  constexpr int digits = 9;
  std::string text = "name,bytes,forward,backward,M,N,K,update";
  text += trace.isOfStep ? ",gather,gathered,reconstruct,carrier" : "";
  const bool hasReaders = std::ranges::any_of(
      trace.layers, [](const TraceLayer &layer) { return !layer.reader.empty(); });
  text += hasReaders ? "," + std::string(readerColumn) + "\n" : "\n";
  for (const TraceLayer &layer : trace.layers) {
    text += quoted(layer.name) + "," + std::to_string(layer.bytes) + "B," +
            formatSeconds(layer.forward, digits) + "," + formatSeconds(layer.backward, digits) +
            ",";
    if (layer.factors)
      text += std::to_string(layer.factors->m) + "," + std::to_string(layer.factors->n) + "," +
              std::to_string(layer.factors->k) + ",";
    else
      text += ",,,";
    text += layer.update > 0 ? formatSeconds(layer.update, digits) : "";
    if (trace.isOfStep) {
      text += layer.gathered ? "," + std::string(schemeName(layer.gathered->scheme)) + "," +
                                   std::to_string(layer.gathered->bytes) + "B,"
                             : ",,,";
      text += layer.reconstruct > 0 ? formatSeconds(layer.reconstruct, digits) : "";
      text += "," + quoted(layer.carrier);
    }
    text += hasReaders ? "," + quoted(layer.reader) + "\n" : "\n";
  }
  return text;
}

Result<LayerTrace> readLayerTrace(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxTraceBytes);
  return text ? parseLayerTrace(*text, path) : Result<LayerTrace>(text.status());
}

} // namespace syncline::files
