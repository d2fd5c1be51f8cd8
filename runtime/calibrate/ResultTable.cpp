// Formatting times by size and scheme.
#include "runtime/calibrate/ResultTable.h"

#include "runtime/calibrate/ClusterText.h"
#include "runtime/calibrate/SizeText.h"
#include "runtime/core/Formatted.h"

#include <algorithm>
#include <map>
#include <vector>

namespace syncline::calibrate {
namespace {

using Row = std::vector<std::string>;

/// Seconds by size, then by the scheme's index.
std::map<std::int64_t, std::map<std::size_t, double>> bySize(const Findings &findings) {
  std::map<std::int64_t, std::map<std::size_t, double>> times;
  for (std::size_t i = 0; i < findings.schemes.size(); ++i)
    for (const SizeFinding &size : findings.schemes[i].sizes)
      times[size.bytes][i] = size.seconds.median;
  return times;
}

/// The rows as text with right-aligned columns, two spaces apart.
std::string aligned(const std::vector<Row> &rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "" : "  ") + std::string(widths[i] - row[i].size(), ' ') + row[i];
    text += '\n';
  }
  return text;
}

Row rowOf(std::int64_t bytes, const std::map<std::size_t, double> &times,
          const std::vector<SchemeFinding> &schemes) {
  Row row{sizeText(bytes)};
  auto best = times.end();
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    const auto found = times.find(i);
    row.push_back(found == times.end() ? "-" : timeText(found->second, 3, " "));
    if (found != times.end() && schemes[i].scheme != Scheme::factors &&
        (best == times.end() || found->second < best->second))
      best = found;
  }
  if (best == times.end()) {
    row.insert(row.end(), {"-", "-"});
    return row;
  }
  row.insert(row.end(), {std::string(schemeName(schemes[best->first].scheme)),
                         core::formatted("%.3g", static_cast<double>(bytes) / best->second / 1e9)});
  return row;
}

} // namespace

std::string resultTable(const Findings &findings) {
  const auto times = bySize(findings);
  if (times.empty())
    return "";
  std::vector<Row> rows{{"size"}};
  for (const SchemeFinding &scheme : findings.schemes)
    rows[0].emplace_back(schemeName(scheme.scheme));
  rows[0].insert(rows[0].end(), {"fastest", "GB/s"});
  for (const auto &[bytes, ofSchemes] : times)
    rows.push_back(rowOf(bytes, ofSchemes, findings.schemes));
  return aligned(rows);
}

} // namespace syncline::calibrate
