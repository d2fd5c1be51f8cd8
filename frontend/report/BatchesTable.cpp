// Tabulates the batches of unequal ranks.
#include "frontend/report/BatchesTable.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace syncline::report {
namespace {

/// Successive ranks of equal batch and slowdown.
struct Group {
  std::size_t first, last;
};

std::vector<Group> groupsOf(const codegen::RankBatches &batches) {
  std::vector<Group> groups;
  for (std::size_t rank = 0; rank < batches.ofRanks.size(); ++rank)
    if (groups.empty() || batches.ofRanks[rank] != batches.ofRanks[groups.back().first] ||
        batches.slowdowns[rank] != batches.slowdowns[groups.back().first])
      groups.push_back({rank, rank});
    else
      groups.back().last = rank;
  return groups;
}

std::string namesOf(const Group &group) {
  const std::string first = std::to_string(group.first), last = std::to_string(group.last);
  return group.first == group.last ? "rank " + first : "ranks " + first + " to " + last;
}

std::string text(const codegen::RankBatches &batches, const nlohmann::json &plan) {
  constexpr std::size_t shown = 6;
  const std::vector<Group> groups = groupsOf(batches);
  std::string text = "balance: ";
  for (std::size_t i = 0; i < groups.size() && i < shown; ++i)
    text += (i == 0 ? "" : ", ") + namesOf(groups[i]) +
            (groups[i].first == groups[i].last ? " takes " : " take ") +
            files::counted(batches.ofRanks[groups[i].first], "sample");
  text += groups.size() > shown ? ", .." : "";
  return text + "; predicted step " +
         files::formatSeconds(plan.at("predicted").at("step").get<double>(), 4) + ", " +
         files::formatSeconds(batches.equalStep, 4) + " with " + std::to_string(batches.equal) +
         " each";
}

} // namespace

Result<std::string> balanceText(const codegen::RankBatches &batches, const nlohmann::json &plan) {
  return guarded([&] { return text(batches, plan); });
}

Result<std::string> batchesTable(const codegen::RankBatches &batches, const nlohmann::json &plan) {
  return guarded([&] {
    double longest = 0;
    for (const Group &group : groupsOf(batches))
      longest = std::max(longest, batches.secondsOf(group.first));
    Table table({{"ranks"},
                 {"batch", Align::right},
                 {"slowdown", Align::right},
                 {"computes", Align::right},
                 {"waits for the slowest", Align::right}});
    for (const Group &group : groupsOf(batches)) {
      const double seconds = batches.secondsOf(group.first);
      table.addRow({namesOf(group), std::to_string(batches.ofRanks[group.first]),
                    files::formatNumber(batches.slowdowns[group.first], 4),
                    files::formatSeconds(seconds, 4), files::formatSeconds(longest - seconds, 3)});
    }
    return "\n" + table.toString() + text(batches, plan) + "\n";
  });
}

} // namespace syncline::report
