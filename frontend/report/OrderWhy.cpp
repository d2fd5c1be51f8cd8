// Writes the explanation of one gradient's place in an order, line by line.
#include "frontend/report/OrderWhy.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/GroupingText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"
#include "passes/problem/Rounding.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace syncline::report {

using namespace explain;
using files::formatBytes;
using files::formatSeconds;

namespace {

std::string messagesText(std::size_t count) { return files::counted(count, "message"); }

/// The table shows the first two and the last two of more than five messages.
constexpr std::size_t mostShown = 5, shownAtAnEnd = 2;

std::string shownText(std::size_t count) {
  return count > mostShown ? " (the table shows " + std::to_string(2 * shownAtAnEnd) + " of them)"
                           : "";
}

/// How far the step is from the bound.
std::string quality(const OrderExplanation &explanation, const OrderWhyContext &context) {
  if (!explanation.proof)
    return "";
  const double bound = explanation.proof->bound;
  if (!problem::isProved(explanation.period, bound))
    return bound > 0 ? ", gap " + percent(explanation.period / bound - 1) : "";
  return context.isRequested ? ", proved optimal for the schemes requested" : ", proved optimal";
}

std::string virtualTimes(const OrderWhyContext &context) {
  std::string text = "times are the planner's model's, in which " + slowingText(context.lost) +
                     ", and count from the beginning of\nthe backward pass\n";
  if (!context.simulated)
    return text + "\n";
  const VirtualTimes &times = *context.simulated;
  return text +
         "in virtual time, as 'inspect' has it from the beginning of the step, its last message is "
         "on the channel\nfrom " +
         formatSeconds(times.start) + " to " + formatSeconds(times.end) + ", and the step takes " +
         formatSeconds(times.step, 4) + ", here " + formatSeconds(times.plannersStep, 4) + "\n\n";
}

std::string heading(const OrderExplanation &explanation, const OrderWhyContext &context) {
  std::string text =
      printable(context.gradients[explanation.layer]) + ": " + formatBytes(explanation.bytes);
  if (!context.reader.empty())
    text += ", first read by " + printable(context.reader);
  const std::size_t count = explanation.parts.size();
  if (explanation.carrier)
    text += "\ntravels with " + printable(context.gradients[*explanation.carrier]) +
            ", whose factors it is computed from";
  else
    text += "\ntravels in " + (count == 1 ? "one message" : messagesText(count)) + shownText(count);
  return text + "; planned by " + printable(context.planner) + quality(explanation, context) +
         "\n" + virtualTimes(context);
}

/// When it is ready, and when it must arrive.
std::string deadline(const OrderExplanation &explanation) {
  std::string text = "ready at " + formatSeconds(explanation.ready) + "; once it has arrived, ";
  if (explanation.reconstruct > 0)
    text += "computing it from factors takes " + formatSeconds(explanation.reconstruct) + ", ";
  if (explanation.update > 0)
    text += "its update takes " + formatSeconds(explanation.update) + ", ";
  text += "and " + formatSeconds(explanation.tail) + " of the next forward pass follow\n";
  const OrderedPart &part = explanation.tightest();
  const double end = explanation.messages[part.message].message.arrived(),
               slack = part.latest - end;
  text += "to keep the step at " + formatSeconds(explanation.period, 4) + " " +
          (explanation.parts.size() == 1 ? "it"
                                         : "the part in bucket " + std::to_string(part.message)) +
          " must arrive by " + formatSeconds(part.latest, 4);
  if (slack <= problem::sumRounding * explanation.period)
    return text + ", and arrives just then: it is on the critical path\n";
  return text + "; it arrives at " + formatSeconds(end, 4) + ", " + formatSeconds(slack) +
         " earlier\n";
}

/// Where one of its messages must end earlier than the gradient alone asks.
std::string mates(const OrderExplanation &explanation, const OrderWhyContext &context) {
  for (const OrderedPart &part : explanation.parts) {
    const ExplainedMessage &entry = explanation.messages[part.message];
    const std::string latest = formatSeconds(entry.latest, 4);
    if (entry.urgent != explanation.layer && latest != formatSeconds(part.latest, 4))
      return "bucket " + std::to_string(part.message) + " must end by " + latest +
             ", since it also brings " + printable(context.gradients[entry.urgent]) + "\n";
  }
  return "";
}

/// The messages of the table, with their marks.
using Marks = std::map<std::size_t, std::string>;

template <typename List> void mark(Marks &marks, const List &list, const std::string &sign) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list.size() <= mostShown || i < shownAtAnEnd || i >= list.size() - shownAtAnEnd)
      marks[list[i].message] += sign;
}

/// "conv1.weight and 12 others, cut": the gradient that sets the latest end stands first.
std::string members(const ExplainedMessage &entry, const OrderWhyContext &context) {
  const problem::Message &message = entry.message;
  std::string text = printable(context.gradients[entry.urgent]);
  const bool isRider = std::ranges::find(message.layers, entry.urgent) == message.layers.end();
  if (const std::size_t others = message.layers.size() - (isRider ? 0 : 1); others > 0)
    text += " and " + files::counted(others, "other");
  return text + (message.cutBefore > 0 || message.cutBehind > 0 ? ", cut" : "");
}

/// What the table's columns and the marks in it mean.
std::string legend(const OrderExplanation &explanation, bool hasParts) {
  const bool hasHalves =
      std::ranges::any_of(explanation.messages, [](const ExplainedMessage &entry) {
        return entry.message.gather.has_value();
      });
  const std::string left = hasHalves ? "left or arrived " : "left ";
  std::string text = "*: brings it";
  if (!explanation.overtakers.empty())
    text += "; +: overtook it, so " + left + "earlier though ready later";
  if (!explanation.overtaken.empty())
    text += "; -: was overtaken by it, so " + left + "later though ready earlier";
  if (hasParts)
    text += "; of it: the bytes of it in the message";
  if (hasHalves)
    text += "\nhalves: the bucket travels twice, first as a reduce-scatter, whose start is given, "
            "then as an all-gather,\nwhose end is given; other buckets may travel in between";
  return text + "\nneeded first, latest end: the gradient that the next forward pass needs first, "
                "and when the message must end for it\n\n";
}

std::string table(const OrderExplanation &explanation, const OrderWhyContext &context) {
  Marks marks;
  mark(marks, explanation.parts, "*");
  mark(marks, explanation.overtakers, "+");
  mark(marks, explanation.overtaken, "-");
  const bool hasParts = explanation.parts.size() > 1;
  std::vector<Table::Column> columns{
      {""}, {"bucket", Align::right}, {"needed first"}, {"bytes", Align::right}};
  if (hasParts)
    columns.push_back({"of it", Align::right});
  columns.push_back({"scheme"});
  for (const char *time : {"ready", "start", "end", "latest end"})
    columns.push_back({time, Align::right});
  Table table(std::move(columns));
  for (const auto &[number, sign] : marks) {
    const ExplainedMessage &entry = explanation.messages[number];
    std::vector<std::string> row{sign, std::to_string(number), members(entry, context),
                                 formatBytes(entry.message.bytes)};
    const auto part = std::ranges::find(explanation.parts, number, &OrderedPart::message);
    if (hasParts)
      row.push_back(part == explanation.parts.end() ? "" : formatBytes(part->bytes));
    row.push_back(std::string(schemeName(entry.scheme)) + (entry.message.gather ? ", halves" : ""));
    for (double time :
         {entry.message.ready, entry.message.start, entry.message.arrived(), entry.latest})
      row.push_back(formatSeconds(time, 4));
    table.addRow(std::move(row));
  }
  return "\n" + table.toString() + legend(explanation, hasParts);
}

/// "; all of them must end earlier".
std::string needed(const std::vector<Overtaking> &list, const std::string &when) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(list, &Overtaking::isNeeded));
  std::string text;
  if (count == 0)
    text = list.size() == 1 ? "; it need not end " : "; none of them must end ";
  else if (list.size() == 1)
    text = "; it must end ";
  else
    text = "; " + (count == list.size() ? "all" : std::to_string(count)) + " of them must end ";
  return text + when + shownText(list.size()) + "\n";
}

std::string overtaking(const OrderExplanation &explanation) {
  std::string text;
  if (!explanation.overtakers.empty())
    text += messagesText(explanation.overtakers.size()) + " overtook it" +
            needed(explanation.overtakers, "earlier");
  if (!explanation.overtaken.empty())
    text += "it overtook " + messagesText(explanation.overtaken.size()) +
            needed(explanation.overtaken, "later");
  return text.empty() ? "it overtook no message, and none overtook it\n" : text;
}

/// "a step of 531.0 ms, 2.00 ms (0.38 %) longer".
std::string change(const OtherOrder &order, double planned) {
  const double difference = order.period - planned;
  if (order.isPlanned)
    return "as planned\n";
  if (std::abs(difference) <= problem::sumRounding * planned)
    return "a step as long as planned\n";
  return "a step of " + formatSeconds(order.period, 4) + ", " +
         formatSeconds(std::abs(difference)) + " (" + percent(std::abs(difference) / planned) +
         ") " + (difference > 0 ? "longer" : "shorter") + "\n";
}

std::string priorities(const OrderExplanation &explanation) {
  const bool isOne = explanation.parts.size() == 1;
  return std::string("\nthe same messages in another order:\n  ") +
         (isOne ? "its message once it is ready and the channel free: "
                : "its messages once they are ready and the channel free: ") +
         change(explanation.raised, explanation.period) + "  " +
         (isOne ? "its message last: " : "its messages last: ") +
         change(explanation.lowered, explanation.period);
}

/// How the bound counts factors, which spare the channel and cost the device.
std::string weighing(const OrderProof &proof) {
  if (proof.channelWeight == 1)
    return "";
  return ",\na second of reconstruction from factors" +
         std::string(proof.leastLost > 0 ? ", or that messages take from computation," : "") +
         " counted as " + formatSeconds(proof.price()) + " (the bound weighs all this with " +
         percent(proof.channelWeight) + " and computation with " +
         percent(1 - proof.channelWeight) + ")";
}

/// ". The shortest case is that fc6 travels by factors and fc7 travels in a bucket".
std::string caseText(const OrderProof &proof, const OrderWhyContext &context) {
  std::string text;
  for (const auto &[layer, byFactors] : proof.fixed)
    text += (text.empty() ? ".\nThe shortest case is that " : " and ") +
            printable(context.gradients[layer]) +
            (byFactors ? " travels by factors" : " travels in a bucket");
  for (const auto &[first, second] : proof.orders)
    text += (text.empty() ? ".\nThe shortest case is that " : " and ") +
            printable(context.gradients[first]) + " travels before " +
            printable(context.gradients[second]);
  return text;
}

/// Whether the bound rests on the gradient, and else why not.
std::string proof(const OrderExplanation &explanation, const OrderWhyContext &context) {
  if (!explanation.proof)
    return "";
  const OrderProof &proof = *explanation.proof;
  std::string text =
      std::string("\nno order") + (context.isRequested ? " with the schemes requested" : "") +
      " has a step below " + formatSeconds(proof.bound, 4) + caseText(proof, context);
  if (proof.isByComputation())
    return text + ", which computation alone takes" +
           (proof.leastLost > 0 ? ", with the " + formatSeconds(proof.leastLost) +
                                      " that messages take from it at least"
                                : "") +
           "\n";
  text += ": all gradients that are ready at " + formatSeconds(proof.ready) +
          " or later and have at least " + formatSeconds(proof.tail) + "\nof " +
          (proof.orders.empty() ? "" : "later messages and ") + "the next forward pass" +
          (proof.fixed.empty() ? "" : ", with reconstruction,") +
          " behind them need the channel for " + formatSeconds(proof.channel()) + " together" +
          weighing(proof) +
          (proof.lostBeside > 0 ? ", and messages of others take " +
                                      formatSeconds(proof.lostBeside) + " from computation"
                                : "") +
          "; this one is ";
  if (proof.isMember)
    return text + "among them\n";
  if (proof.mayPiggyback)
    return text + "not counted, as it may travel with another one's factors\n";
  return text + (explanation.ready < proof.ready ? "ready earlier\n" : "needed later\n");
}

} // namespace

std::string orderWhy(const OrderExplanation &explanation, const OrderWhyContext &context) {
  if (explanation.parts.empty())
    return printable(context.gradients[explanation.layer]) +
           ": has no bytes, so nothing travels and nothing waits for it\n";
  return heading(explanation, context) + deadline(explanation) + mates(explanation, context) +
         table(explanation, context) + overtaking(explanation) + priorities(explanation) +
         (explanation.grouping
              ? groupingText(*explanation.grouping,
                             {.gradients = context.gradients, .planner = context.planner})
              : "") +
         proof(explanation, context);
}

} // namespace syncline::report
