// A sweep over two axes as tables and as CSV.
#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/SweepReport.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <functional>

namespace syncline::report {

namespace {

std::string across(const sweep::SweepGrid &grid, std::size_t column) {
  return std::string(sweep::axisName(grid.across.kind)) + " " +
         sweep::axisValue(grid.across, grid.values[column]);
}

/// A table of one figure; "-" where there is no point.
std::string tableOf(const sweep::SweepGrid &grid, const std::string &name,
                    const std::function<std::string(const sweep::SweepPoint &)> &cell) {
  std::vector<Table::Column> columns{
      {name + " by " + std::string(sweep::axisName(grid.axis.kind)), Align::right}};
  std::vector<std::vector<SweptValue>> swept;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    columns.push_back({across(grid, i), Align::right});
    swept.push_back(sweptValues(grid.columns[i]));
  }
  Table table(std::move(columns));
  for (std::size_t row = 0; row < swept.front().size(); ++row) {
    std::vector<std::string> cells{sweep::axisValue(grid.axis, swept.front()[row].value)};
    for (const std::vector<SweptValue> &column : swept)
      cells.push_back(column[row].point ? cell(*column[row].point) : "-");
    table.addRow(std::move(cells));
  }
  return table.toString() + "\n";
}

bool anyPoint(const sweep::SweepGrid &grid,
              const std::function<bool(const sweep::SweepPoint &)> &holds) {
  return std::ranges::any_of(grid.columns, [&](const sweep::Sweep &column) {
    return std::ranges::any_of(column.points, holds);
  });
}

/// "most samples/s: 5120 at ranks 64, bandwidth 100 Gb/s".
std::string bestText(const sweep::SweepGrid &grid) {
  double most = 0;
  std::string where;
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    for (const sweep::SweepPoint &point : grid.columns[i].points)
      if (const double rate = throughputOf(point).samplesPerSecond(); isMore(rate, most)) {
        most = rate;
        where = std::string(sweep::axisName(grid.axis.kind)) + " " +
                sweep::axisValue(grid.axis, point.value) + ", " + across(grid, i);
      }
  return most > 0 ? "most samples/s: " + formatRate(most) + " at " + where + "\n" : "";
}

} // namespace

std::string gridTable(const sweep::SweepGrid &grid) {
  std::string text = tableOf(grid, "step", [](const sweep::SweepPoint &point) {
    return files::formatSeconds(point.step, 4) + (point.hasWhole ? "*" : "");
  });
  if (anyPoint(grid, [](const sweep::SweepPoint &point) { return point.efficiency() > 0; }))
    text += tableOf(grid, "efficiency", [](const sweep::SweepPoint &point) {
      return point.efficiency() > 0 ? percent(point.efficiency()) : "-";
    });
  if (anyPoint(grid, [](const sweep::SweepPoint &point) { return point.hasWhole; }))
    text += "* too long to simulate round by round: messages take the time that planners give "
            "them\n";
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    text += leftOutText(grid.columns[i], ", at " + across(grid, i));
  text += std::string(throughputMeaning) + "\n" + bestText(grid);
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    if (const std::string line = breakEvenText(grid.columns[i]); !line.empty())
      text += "at " + across(grid, i) + ": " + line;
  return text + (grid.columns.front().replanned ? "planned anew at every point\n"
                                                : "decisions are the plan's at every point\n");
}

std::string gridCsv(const sweep::SweepGrid &grid) {
  std::string text = std::string(sweep::csvColumn(grid.axis.kind)) + "," +
                     std::string(sweep::csvColumn(grid.across.kind)) + "," + csvPointColumns;
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    for (const SweptValue &value : sweptValues(grid.columns[i]))
      text += csvCell(grid.axis, value.value) + "," + csvCell(grid.across, grid.values[i]) + "," +
              (value.point ? csvPoint(*value.point) : csvSkipped(*value.skipped));
  return text;
}

} // namespace syncline::report
