// Writes what other members of a bucket would cost, and the reasons.
#include "frontend/report/GroupingText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

using namespace explain;
using files::formatBytes;
using files::formatSeconds;

namespace {

/// Two times are equal when they differ by at most this share of the step.
constexpr double tolerance = 1e-9;

class Writer {
public:
  Writer(const Grouping &grouping, const GroupingContext &context)
      : grouping(grouping), context(context) {}

  std::string text() const {
    std::string text =
        "\nits bucket, number " + std::to_string(grouping.message) + ": " + heading() + "\n";
    if (grouping.changes.empty())
      return text +
             "it is the only bucket and has one member, so nothing can be grouped otherwise\n";
    text += "\n" + table();
    text +=
        "busier, idler: how much longer messages take the channel, and how much longer it waits "
        "before the last one;\nexposed: by how much the step exceeds its computation, "
        "reconstruction included\n\n";
    return text + together() + cut(Move::mergeBefore, "the cut before it") +
           cut(Move::mergeBehind, "the cut behind it") + best();
  }

private:
  std::string nameOf(std::size_t layer) const { return printable(context.gradients[layer]); }
  double step(double finish) const { return finish + context.updates; }
  bool isNothing(double seconds) const {
    return std::fabs(seconds) <= tolerance * step(grouping.finish);
  }

  std::string heading() const {
    std::string text =
        files::counted(static_cast<std::int64_t>(grouping.members.size()), "gradient") + " of " +
        formatBytes(grouping.bytes) + ": " +
        rangeSummary(nameOf(grouping.members.front()), nameOf(grouping.members.back()),
                     grouping.members.size());
    return text + "; the step takes " + formatSeconds(step(grouping.finish), 4) + ", of which " +
           formatSeconds(grouping.exposed) + " are exposed";
  }

  std::string label(const Regrouping &change) const {
    const std::string name = nameOf(change.layer);
    switch (change.move) {
    case Move::joinBefore:
      return name + " joins, from the bucket before";
    case Move::joinBehind:
      return name + " joins, from the bucket behind";
    case Move::mergeBefore:
      return "one bucket with the one before";
    case Move::mergeBehind:
      return "one bucket with the one behind";
    case Move::leaveBefore:
      return name + " leaves, to the bucket before";
    case Move::leaveBehind:
      return name + " leaves, to the bucket behind";
    case Move::firstAlone:
    case Move::lastAlone:
      return name + " travels alone";
    case Move::split:
      return "split before " + name +
             (grouping.splits > 1 ? ", the best of " + std::to_string(grouping.splits) + " places"
                                  : "");
    case Move::allAlone:
      return "each gradient alone";
    case Move::oneWhole:
      return "not in halves";
    }
    return "";
  }

  /// "+1.20 ms"; nothing where there is no difference.
  std::string change(double seconds) const {
    if (isNothing(seconds))
      return "";
    return (seconds > 0 ? "+" : "") + formatSeconds(seconds);
  }

  std::string table() const {
    Table table({{"grouped otherwise"},
                 {"largest", Align::right},
                 {"messages", Align::right},
                 {"busier", Align::right},
                 {"idler", Align::right},
                 {"exposed", Align::right},
                 {"step", Align::right},
                 {"longer", Align::right}});
    for (const Regrouping &entry : grouping.changes) {
      std::vector<std::string> row{label(entry), formatBytes(entry.bytes)};
      if (entry.plan) {
        row.push_back(
            entry.added == 0 ? "" : (entry.added > 0 ? "+" : "") + std::to_string(entry.added));
        for (double seconds : {entry.busy, entry.idle})
          row.push_back(change(seconds));
        row.push_back(formatSeconds(entry.exposed));
        row.push_back(formatSeconds(step(entry.finish), 4));
        row.push_back(change(entry.finish - grouping.finish));
      } else {
        row.insert(row.end(), 6, "-");
      }
      table.addRow(std::move(row));
    }
    return table.toString();
  }

  /// "the step is 1.20 ms (0.57 %) longer".
  std::string effect(const Regrouping &change) const {
    const double difference = change.finish - grouping.finish;
    if (isNothing(difference))
      return "the step is as long";
    return "the step is " + formatSeconds(std::fabs(difference)) + " (" +
           percent(std::fabs(difference) / step(grouping.finish)) + ") " +
           (difference > 0 ? "longer" : "shorter");
  }

  /// "the channel is busy 50.0 us longer".
  static std::string busyText(const Regrouping &change) {
    return "the channel is busy " + formatSeconds(std::fabs(change.busy)) +
           (change.busy > 0 ? " longer" : " less");
  }

  /// "the channel is busy 50.0 us longer, as 1 latency of 50.0 us is added".
  std::string busyReason(const Regrouping &change) const {
    std::string text = busyText(change);
    if (change.added == 0 || change.latency <= 0)
      return text;
    const std::int64_t count = std::llabs(change.added);
    return text + ", as " + std::to_string(count) +
           (count == 1 ? " latency of " : " latencies of ") + formatSeconds(change.latency) +
           (count == 1 ? " is " : " are ") + (change.added > 0 ? "added" : "saved");
  }

  /// "it is idle 1.20 ms longer, as conv2, ready at 3.00 ms, waits for conv1, ready at 5.00 ms".
  std::string idleReason(const Regrouping &change) const {
    std::string text = "it is idle " + formatSeconds(std::fabs(change.idle)) +
                       (change.idle > 0 ? " longer" : " less");
    if (change.awaitedReady <= change.waitingReady)
      return text;
    return text + ", as " + nameOf(change.waiting) + ", ready at " +
           formatSeconds(change.waitingReady) + ", " +
           (change.idle > 0 ? "waits" : "need not wait") + " for " + nameOf(change.awaited) +
           ", ready at " + formatSeconds(change.awaitedReady);
  }

  std::string reason(const Regrouping &change) const {
    const double difference = change.finish - grouping.finish, end = change.busy + change.idle;
    if (isNothing(difference))
      return isNothing(change.busy) && isNothing(change.idle)
                 ? "the channel is busy as long and starts as early"
             : isNothing(end)
                 ? busyText(change) + ", and idle as much " + (change.busy > 0 ? "less" : "longer")
                 : "the difference hides behind computation";
    std::string text = isNothing(change.busy) ? "" : busyReason(change);
    if (!isNothing(change.idle))
      text += (text.empty() ? "" : ", and ") + idleReason(change);
    if (text.empty())
      return std::string("what is needed first arrives ") + (difference > 0 ? "later" : "earlier");
    return text + (difference > 0 && end > difference && !isNothing(end - difference)
                       ? "; the rest hides behind computation"
                       : "");
  }

  /// "together: split before conv2, the step is 50.0 us longer: ..".
  std::string together() const {
    const Regrouping *best = nullptr;
    for (const Regrouping &entry : grouping.changes) {
      const bool divides = entry.move == Move::firstAlone || entry.move == Move::lastAlone ||
                           entry.move == Move::split || entry.move == Move::allAlone;
      if (divides && entry.plan && (!best || entry.finish < best->finish))
        best = &entry;
    }
    return best ? "why together: " + sentence(*best) : "";
  }

  std::string cut(Move move, const std::string &what) const {
    const auto entry = std::ranges::find(grouping.changes, move, &Regrouping::move);
    if (entry == grouping.changes.end())
      return "";
    if (entry->plan)
      return "why " + what + ": " + sentence(*entry);
    return "why " + what + ": without it the message would have " + formatBytes(entry->bytes) +
           ", and the largest that its scheme may carry has " +
           formatBytes(grouping.largestMessage) + "\n";
  }

  std::string sentence(const Regrouping &change) const {
    return label(change) + ", " + effect(change) + ":\n  " + reason(change) + "\n";
  }

  /// What better cuts would be worth.
  std::string best() const {
    if (!grouping.bestCuts || context.optimal)
      return "";
    const double less = grouping.finish - *grouping.bestCuts;
    const std::string planner = printable(context.planner);
    if (isNothing(less))
      return "no other cuts of these schemes were found with a shorter step\n";
    return "with the best cuts for these schemes the step takes " +
           formatSeconds(step(*grouping.bestCuts), 4) + ": the cuts of planner " + planner +
           " cost " + formatSeconds(less) + " (" + percent(less / step(grouping.finish)) + ")\n";
  }

  const Grouping &grouping;
  const GroupingContext &context;
};

} // namespace

std::string groupingText(const Grouping &grouping, const GroupingContext &context) {
  return Writer(grouping, context).text();
}

} // namespace syncline::report
