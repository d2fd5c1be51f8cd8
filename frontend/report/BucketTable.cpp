// A plan's messages as a table.
#include "frontend/report/BucketTable.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Repeats.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace syncline::report;
using nlohmann::json;
using syncline::files::formatBytes;
using syncline::files::formatSeconds;

/// Each bucket has a line of its own in plans of so many buckets or fewer, repeated or not.
static constexpr std::size_t longestWhole = 40;

/// What the columns mean.
static const char *const columnMeaning =
    "traffic: what a node sends and receives for it; ready: the last rank has it at hand; exposed: "
    "computation waits so long\nfor it, on the rank that waits least\n";

/// Whether the bucket's gradients are reconstructed from factors, and so exist after its message.
static bool isReconstructed(const json &bucket) {
  return !bucket.contains("all_gather") &&
         bucket.at("reconstructed").get<double>() > bucket.at("end").get<double>();
}

namespace {

class BucketTable {
public:
  BucketTable(const json &plan, bool allMembers)
      : buckets(plan.at("buckets")), allMembers(allMembers), takesTurns(channelsOf(plan) > 1),
        rebuilds(std::ranges::any_of(buckets, isReconstructed)), table(columns()) {}

  std::string text() {
    std::vector<Repeat> repeats;
    if (!allMembers && buckets.size() > longestWhole)
      repeats = repeatsOf(buckets);
    std::size_t next = 0;
    for (const Repeat &repeat : repeats) {
      add(next, repeat.first + repeat.period);
      addSum(repeat);
      next = repeat.first + repeat.size();
    }
    add(next, buckets.size());
    return table.toString() +
           (repeats.empty() ? ""
                            : "a line of several buckets sums up what repeats the lines above it "
                              "for further blocks; '--members' shows each\n") +
           columnMeaning;
  }

private:
  std::vector<Table::Column> columns() {
    std::vector<Table::Column> found{{"bucket", Align::right},  {"members"},
                                     {"bytes", Align::right},   {"scheme"},
                                     {"traffic", Align::right}, {"ready", Align::right},
                                     {"start", Align::right},   {"end", Align::right},
                                     {"exposed", Align::right}};
    if (takesTurns)
      found.push_back({"channel", Align::right});
    if (rebuilds)
      found.push_back({"reconstructed", Align::right});
    width = found.size();
    return found;
  }

  void addRow(std::vector<std::string> row) {
    row.resize(width);
    table.addRow(std::move(row));
  }

  void add(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      add(buckets[i]);
  }

  void add(const json &bucket) {
    std::vector<std::string> row{std::to_string(bucket.at("id").get<std::int64_t>()),
                                 memberSummary(bucket.at("members")) +
                                     (bucket.contains("cut") ? ", cut" : ""),
                                 formatBytes(bucket.at("bytes")),
                                 printable(bucket.at("scheme")),
                                 formatTraffic(bucket.at("traffic")),
                                 formatSeconds(bucket.at("ready")),
                                 formatSeconds(bucket.at("start")),
                                 formatSeconds(bucket.at("end")),
                                 formatSeconds(bucket.at("exposed"))};
    if (takesTurns)
      row.push_back(std::to_string(bucket.at("channel").get<std::int64_t>()));
    if (rebuilds)
      row.push_back(isReconstructed(bucket) ? formatSeconds(bucket.at("reconstructed")) : "");
    addRow(std::move(row));
    if (bucket.contains("all_gather")) {
      const json &second = bucket.at("all_gather");
      addRow({"", "", "", "all-gather", "", formatSeconds(second.at("ready")),
              formatSeconds(second.at("start")), formatSeconds(second.at("end"))});
    }
    if (allMembers && bucket.at("members").size() > 1)
      for (const json &member : bucket.at("members"))
        addRow({"", "  " + printable(member)});
  }

  /// One line for all times but the first.
  void addSum(const Repeat &repeat) {
    const std::size_t first = repeat.first + repeat.period, end = repeat.first + repeat.size();
    std::int64_t bytes = 0;
    double traffic = 0, exposed = 0, last = 0;
    for (std::size_t i = first; i < end; ++i) {
      bytes += buckets[i].at("bytes").get<std::int64_t>();
      traffic += buckets[i].at("traffic").get<double>();
      exposed += buckets[i].at("exposed").get<double>();
      last = std::max(last, buckets[i].at("end").get<double>());
    }
    const auto id = [&](std::size_t i) {
      return std::to_string(buckets[i].at("id").get<std::int64_t>());
    };
    addRow({id(first) + ".." + id(end - 1),
            std::to_string(repeat.count - 1) + " times more, " +
                printable(buckets[first].at("members").front()) + " .. " +
                printable(buckets[end - 1].at("members").back()),
            formatBytes(bytes), "", formatTraffic(traffic),
            formatSeconds(buckets[first].at("ready")), formatSeconds(buckets[first].at("start")),
            formatSeconds(last), formatSeconds(exposed)});
  }

  const json &buckets;
  const bool allMembers, takesTurns, rebuilds;
  std::size_t width = 0;
  Table table;
};

} // namespace

std::string syncline::report::bucketTable(const json &plan, bool allMembers) {
  return BucketTable(plan, allMembers).text();
}
