// Writes an explanation, line by line.
#include "frontend/report/WhyReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/GroupingText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

using namespace explain;
using files::formatBytes;
using files::formatSeconds;

namespace {

/// The entry of the chosen scheme; null where there is none.
const Alternative *chosenOf(const Explanation &explanation) {
  auto found = std::ranges::find(explanation.alternatives, true, &Alternative::isChosen);
  return found == explanation.alternatives.end() ? nullptr : &*found;
}

/// The best other entry; null where there is none.
const Alternative *nextBestOf(const Explanation &explanation) {
  const Alternative *best = nullptr;
  for (const Alternative &alternative : explanation.alternatives)
    if (!alternative.isChosen && alternative.finish &&
        (!best || *alternative.finish < *best->finish))
      best = &alternative;
  return best;
}

std::string nameOf(Scheme scheme) { return std::string(schemeName(scheme)); }

std::string threeDigits(double value) { return files::formatNumber(value, 3); }

std::string rangeText(const std::vector<std::string> &names) {
  return rangeSummary(printable(names.front()), printable(names.back()), names.size());
}

/// The times that 'inspect' prints, and why they differ from the planner's.
std::string virtualTimes(const WhyContext &context) {
  if (!context.simulated)
    return "";
  const VirtualTimes &times = *context.simulated;
  std::string text =
      "these and all times below are the planner's model's: " + slowingText(context.lost) +
      ", updates come last,\nand a rank computes its own share of a gradient by "
      "factors in the backward pass. In virtual time, as 'inspect'\nhas it, the "
      "message is ready at " +
      formatSeconds(times.ready) + " and on the channel from " + formatSeconds(times.start) +
      " to " + formatSeconds(times.end);
  if (times.reconstructed > times.end)
    text += ", reconstructed at " + formatSeconds(times.reconstructed);
  return text + "; the step takes " + formatSeconds(times.step, 4) + ", here " +
         formatSeconds(times.plannersStep, 4) + "\n";
}

std::string heading(const Explanation &explanation, const WhyContext &context) {
  const problem::Message &message = explanation.message;
  std::string text = printable(context.gradient) + ": " + formatBytes(context.bytes) +
                     ", ready at " + formatSeconds(context.ready) + ", by " +
                     nameOf(explanation.chosen);
  if (explanation.isPiggyback)
    text += " with " + printable(context.carrier) + ", whose factors it is computed from";
  else if (context.mates.empty())
    text += " alone" +
            (context.piggybacks.empty() ? "" : ", and with it " + rangeText(context.piggybacks));
  else
    text += " in a bucket of " + formatBytes(message.bytes) + " with " + rangeText(context.mates);
  text +=
      "\non the channel from " + formatSeconds(message.start) + " to " + formatSeconds(message.end);
  if (message.reconstructed > message.end)
    text += ", reconstructed at " + formatSeconds(message.reconstructed);
  text += "; chosen by planner " + printable(context.planner);
  if (context.optimal)
    text += context.isRequested ? ", proved optimal for the schemes requested" : ", proved optimal";
  return text + "\n" + virtualTimes(context) + "\n";
}

/// The schemes that the table lacks because what carries the messages does not have them.
std::string unavailableText(const WhyContext &context) {
  std::string names;
  for (const std::string &name : context.unavailable)
    names += (names.empty() ? "" : ", ") + name;
  if (names.empty())
    return "";
  return std::string("not offered, as NCCL ") +
         (context.byNccl ? "carries the messages: " : "does not carry the messages: ") + names +
         "\n";
}

std::string schemesTable(const Explanation &explanation, const WhyContext &context) {
  const bool hasBucket = std::ranges::any_of(
      explanation.alternatives, [](const Alternative &entry) { return entry.bucket.has_value(); });
  std::vector<Table::Column> columns{{""},
                                     {"scheme"},
                                     {"channel", Align::right},
                                     {"reconstruct", Align::right},
                                     {"traffic", Align::right},
                                     {"exists at", Align::right}};
  if (hasBucket) {
    columns.push_back({"bucket", Align::right});
    columns.push_back({"it exists at", Align::right});
  }
  columns.push_back({"best step", Align::right});
  Table table(std::move(columns));
  for (const Alternative &entry : explanation.alternatives) {
    std::vector<std::string> row{
        entry.isChosen ? "*" : "",
        nameOf(entry.scheme),
        formatSeconds(entry.alone.channel),
        entry.alone.reconstruct > 0 ? formatSeconds(entry.alone.reconstruct) : "",
        formatTraffic(entry.alone.traffic),
        formatSeconds(entry.alone.exists)};
    if (hasBucket) {
      row.push_back(entry.bucket ? formatSeconds(entry.bucket->channel) : "");
      row.push_back(entry.bucket ? formatSeconds(entry.bucket->exists) : "");
    }
    row.push_back(entry.finish ? formatSeconds(*entry.finish + context.updates, 4) : "-");
    table.addRow(std::move(row));
  }
  std::string text =
      table.toString() +
      "of the gradient alone: channel: how long its message has the channel; "
      "reconstruct: how long computing it from\ngathered factors takes; traffic: what a "
      "node sends and receives; exists at: when it is agreed, and reconstructed,\nif the "
      "rest of the plan stayed\n";
  if (hasBucket)
    text += "bucket, it exists at: how long its whole bucket has the channel, and when that "
            "exists\n";
  return text + "best step: with the rest planned anew around it\n" + unavailableText(context) +
         "\n";
}

/// "4.33 ms (1.2 %) later", "at the same time".
std::string later(double finish, double than) {
  const double difference = finish - than;
  if (difference <= 1e-9 * than)
    return "at the same time";
  return formatSeconds(difference) + " (" + percent(difference / than) + ") later";
}

std::string savings(const Explanation &explanation, double updates) {
  const Alternative *chosen = chosenOf(explanation), *next = nextBestOf(explanation);
  if (!chosen || !chosen->finish || !next)
    return explanation.alternatives.size() == 1
               ? "nothing else is offered for it, or --scheme has decided\n"
               : "what it saves cannot be said: its merge class's limits allow no other plan\n";
  const double finish = *chosen->finish + updates, other = *next->finish + updates;
  if (std::fabs(other - finish) <= 1e-9 * finish)
    return "it makes no difference: by " + nameOf(next->scheme) +
           ", the next best, the step ends at the same time\n";
  if (other < finish)
    return "it costs " + formatSeconds(finish - other) + " (" + percent((finish - other) / finish) +
           "): by " + nameOf(next->scheme) + " the step could end earlier\n";
  return "it saves " + formatSeconds(other - finish) + " (" + percent((other - finish) / finish) +
         ") over the next best, " + nameOf(next->scheme) + "\n";
}

std::string byteRule(const Explanation &explanation, double updates) {
  if (!explanation.byteRule)
    return "Poseidon's rule of bytes has nothing to compare: no factors, or no servers\n";
  const ByteRule &rule = *explanation.byteRule;
  std::string text = "Poseidon's rule of bytes: factors move " + formatTraffic(rule.factorBytes) +
                     ", servers " + formatTraffic(rule.serverBytes) + ": " + nameOf(rule.scheme);
  if (rule.scheme == explanation.chosen)
    return text + ", as chosen\n";
  auto entry = std::ranges::find(explanation.alternatives, rule.scheme, &Alternative::scheme);
  const Alternative *chosen = chosenOf(explanation);
  if (entry == explanation.alternatives.end() || !entry->finish || !chosen || !chosen->finish)
    return text + ", not as chosen\n";
  return text + ", with which the step would end at best " +
         later(*entry->finish + updates, *chosen->finish + updates) + "\n";
}

/// "2.50 Gb/s", "12 nodes", "64 samples a rank", "2 times the batch".
std::string valueOn(const Axis &axis, double value) {
  switch (axis.kind) {
  case Axis::Kind::bandwidth:
    return axis.isMultiple ? threeDigits(value) + " times the bandwidth"
                           : threeDigits(8e-9 * value) + " Gb/s";
  case Axis::Kind::batch:
    return axis.isMultiple ? threeDigits(value) + " times the batch"
                           : files::counted(std::llround(value), "sample");
  case Axis::Kind::nodes:
    return files::counted(std::llround(value), "node");
  }
  return {};
}

std::string nameOf(Axis::Kind kind) {
  switch (kind) {
  case Axis::Kind::bandwidth:
    return "bandwidth";
  case Axis::Kind::batch:
    return "batch";
  case Axis::Kind::nodes:
    return "nodes";
  }
  return {};
}

std::string axisText(const Axis &axis) {
  auto at = [&](double value) { return valueOn(axis, value); };
  std::string text = "  " + nameOf(axis.kind) + ", " + at(axis.range.planned) + " in the plan: ";
  if (!axis.crossovers.below && !axis.crossovers.above)
    return text + "at none between " + at(axis.range.least) + " and " + at(axis.range.most) + "\n";
  if (axis.crossovers.below)
    text += "up to " + at(axis.crossovers.below->at) + ": " + nameOf(axis.crossovers.below->choice);
  if (axis.crossovers.above)
    text += std::string(axis.crossovers.below ? "; " : "") + "from " +
            at(axis.crossovers.above->at) + " on: " + nameOf(axis.crossovers.above->choice);
  return text + "\n";
}

std::string crossovers(const Explanation &explanation, const WhyContext &context) {
  if (!explanation.plansAnew)
    return "\nplanner " + printable(context.planner) +
           " plans only in 'syncline compile', so no other cluster or batch was tried\n";
  if (explanation.axes.empty())
    return "\na lone rank has nothing to send, whatever the choice\n";
  std::string text = "\nwhere planner " + printable(context.planner) +
                     " would choose otherwise, all else as it is:\n";
  for (const Axis &axis : explanation.axes)
    text += axisText(axis);
  if (!explanation.measured.empty()) {
    std::string names;
    for (Scheme scheme : explanation.measured)
      names += (names.empty() ? "" : ", ") + nameOf(scheme);
    text += "  bandwidth, nodes: the cluster file states measured times (" + names +
            "), which hold for its own links and ranks\n";
  }
  return text;
}

} // namespace

/// K rows of 4d bytes, each with a number of 8 bytes, go to P - 1 ranks. Around a ring a rank sends
/// 2(P-1)/P of the table's 4Vd bytes. These are equal where K·P = 2V · 4d / (4d + 8).
std::string rowRule(const RowRule &rule, Scheme chosen) {
  constexpr std::int64_t idBytes = 8;
  const std::int64_t all = rule.rows * rule.ranks,
                     most = static_cast<std::int64_t>(2.0 * static_cast<double>(rule.table) *
                                                      static_cast<double>(rule.rowBytes) /
                                                      static_cast<double>(rule.rowBytes + idBytes));
  const Scheme byRows = all <= most ? rule.scheme : Scheme::ring;
  return "rule of rows: " + std::to_string(rule.rows) + " rows on each of " +
         std::to_string(rule.ranks) + " ranks are " + std::to_string(all) + "; up to " +
         std::to_string(most) + ", twice the table's " + std::to_string(rule.table) +
         " less what their numbers take, " + nameOf(rule.scheme) +
         " moves fewer bytes than a ring: " + nameOf(byRows) +
         (isGathered(chosen) == isGathered(byRows)
              ? ", as chosen\n"
              : "; latency, computation and other messages decided otherwise\n");
}

std::string whyReport(const Explanation &explanation, const WhyContext &context) {
  return heading(explanation, context) + schemesTable(explanation, context) +
         savings(explanation, context.updates) + byteRule(explanation, context.updates) +
         (explanation.grouping
              ? groupingText(*explanation.grouping, {.gradients = context.gradients,
                                                     .planner = context.planner,
                                                     .optimal = context.optimal,
                                                     .updates = context.updates})
              : "") +
         crossovers(explanation, context);
}

} // namespace syncline::report
