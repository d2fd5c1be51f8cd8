// Writing findings as YAML.
#include "runtime/calibrate/ClusterText.h"

#include "runtime/calibrate/LatencyOverlap.h"
#include "runtime/calibrate/Pairs.h"
#include "runtime/calibrate/SizeText.h"
#include "runtime/core/Formatted.h"

#include <cmath>
#include <cstdarg>
#include <map>

namespace syncline::calibrate {
namespace {

/// Collects lines that are formatted as by printf.
class Lines {
public:
  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text += core::formattedBy(format, arguments) + '\n';
    va_end(arguments);
  }
  std::string text;
};

/// A share in percent: "2.5 %", "340 %".
std::string percent(double share) {
  return core::formatted(share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
}

/// The spread as text: "quartiles 1.1us to 1.3us, median within 2 %, 20 samples".
std::string spread(const Summary &s) {
  return "quartiles " + timeText(s.lowerQuartile) + " to " + timeText(s.upperQuartile) +
         (s.samples >= fewestForInterval ? ", median within " : ", all within ") +
         percent(s.uncertainty()) + ", " + std::to_string(s.samples) + " samples";
}

/// The text in single quotes, escaped for YAML.
std::string quoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

std::string hostText(const std::vector<std::string> &hosts) {
  std::map<std::string, int> counts;
  for (const std::string &host : hosts)
    ++counts[host];
  std::string text;
  for (const auto &[host, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " on " + host;
  return text;
}

std::string nameOf(Scheme scheme) { return std::string(schemeName(scheme)); }

void addHead(Lines &out, const Findings &f, const Labels &labels) {
  out.add("# Written by 'syncline calibrate' (%s).", labels.versions.c_str());
  out.add("# %d ranks: %s; %s; measured for %.0f s.", f.ranks, hostText(f.hosts).c_str(),
          f.conditions.c_str(), f.seconds);
  out.add("# Times are medians of the slowest rank's; messages' while no rank computes.");
  if (!isReproducible(f.schemes))
    out.add("# Messages' times are hardly reproducible: less than three quarters of them are known "
            "within 10 %%.");
  for (std::int64_t bytes : f.unmeasured)
    out.add("# There was no time to measure messages of %s.", sizeText(bytes).c_str());
  if (const std::string note = besideNote(f); !note.empty())
    out.add("# Note: %s.", note.c_str());
  for (const SchemeFinding &scheme : f.schemes)
    if (scheme.sizes.empty())
      out.add("# %s was not measured: no size is short enough for it.",
              nameOf(scheme.scheme).c_str());
  out.add("name: %s", quoted(labels.name).c_str());
  if (f.ranksPerNode > 1 && f.ranksPerNode < f.ranks) {
    out.add("nodes: %d", f.ranks / f.ranksPerNode);
    out.add("devices-per-node: %d", f.ranksPerNode);
  } else {
    out.add("ranks: %d", f.ranks);
  }
}

void addKernel(Lines &out, const KernelFinding &k, double work, const char *unit) {
  out.add("  # %s: %s (%.4g %s), %s; the fastest rank takes %s", k.name.c_str(),
          timeText(k.seconds.median).c_str(), work / k.seconds.median / 1e9, unit,
          spread(k.seconds).c_str(), timeText(k.fastestRank).c_str());
}

void addDevice(Lines &out, const DeviceFinding &device) {
  out.add("device: # all ranks at once");
  for (const KernelFinding &kernel : device.compute)
    addKernel(out, kernel, kernel.flops, "GFLOP/s");
  out.add("  compute: %.5g GFLOP/s", device.computeRate() / 1e9);
  for (const KernelFinding &kernel : device.memory)
    addKernel(out, kernel, kernel.bytes, "GB/s");
  out.add("  memory: %.5g GB/s", device.memoryRate() / 1e9);
  out.add("  # %s: %s", device.smallest.name.c_str(), spread(device.smallest.seconds).c_str());
  out.add("  launch-overhead: %s", timeText(device.smallest.seconds.median).c_str());
}

void addLink(Lines &out, const char *key, const LinkCosts &link) {
  out.add("%s:", key);
  if (link.isFromRing)
    out.add(
        "  # Least relative squares over the ring's rounds: rates by long messages, whose "
        "residuals "
        "are below %s,\n  # latency by short ones; of all sizes half of the residuals are below "
        "%s, the worst, %s, is %s's at %s.",
        percent(link.longResidual).c_str(), percent(link.medianResidual).c_str(),
        percent(link.worstResidual).c_str(), nameOf(link.worstScheme).c_str(),
        sizeText(link.worstBytes).c_str());
  else
    out.add("  # Of rank 0's slowest pair: the ring's rounds say nothing of the bandwidth.");
  if (link.isLatencyFromPairs)
    out.add("  # They explain no latency: it is that of rank 0's slowest pair.");
  if (link.isBandwidthOfPairs)
    out.add("  # They explain more bandwidth than rank 0's slowest pair has: it is that.");
  const LinkConstants &c = link.constants;
  out.add("  bandwidth: %.5g MB/s", 1e-6 / c.beta);
  out.add("  latency: %s", timeText(c.alpha).c_str());
  if (c.gamma > 0)
    out.add("  reduce-rate: %.5g MB/s", 1e-6 / c.gamma);
}

void addPairs(Lines &out, const std::vector<PairFinding> &pairs) {
  if (pairs.empty())
    out.add(
        "# No pair of ranks was measured alone, nor those of one node: channels of this backend "
        "are of all ranks.");
  for (const PairFinding &p : pairs)
    out.add("# Ranks 0 and %d alone: latency %s, %s; %.5g MB/s, %s for %s.", p.partner,
            timeText(p.latency.median).c_str(), spread(p.latency).c_str(),
            1e-6 * static_cast<double>(Pairs::streamBytes) / p.stream.median,
            spread(p.stream).c_str(), sizeText(Pairs::streamBytes).c_str());
}

/// A factor as text: "1.36 times as long, quartiles 1.33 to 1.39, median within 2 %, 20 samples".
std::string factor(const Summary &s) {
  return core::formatted("%.4g times as long, quartiles %.4g to %.4g, %s %s, %d samples", s.median,
                         s.lowerQuartile, s.upperQuartile,
                         s.samples >= fewestForInterval ? "median within" : "all within",
                         percent(s.uncertainty()).c_str(), s.samples);
}

/// A share as text: "0.52, quartiles 0.49 to 0.55, 20 samples".
std::string share(const Summary &s) {
  return core::formatted("%.3g, quartiles %.3g to %.3g, %d samples", s.median, s.lowerQuartile,
                         s.upperQuartile, s.samples);
}

/// What products and memory-bound operations lose, as keys where that is surely not the same.
void addClasses(Lines &out, const Interference &i, const char *in) {
  if (i.products.samples == 0)
    return;
  out.add("%s# Convolutions and products of matrices among them: %s.", in,
          factor(i.products).c_str());
  out.add("%s# The others, which live on the memory's bandwidth: %s.", in,
          factor(i.memory).c_str());
  if (!i.tellsClasses()) {
    out.add("%s# These may be equal, so one factor stands for both.", in);
    return;
  }
  out.add("%sproducts: %.4g", in, i.factor(i.products));
  out.add("%smemory: %.4g", in, i.factor(i.memory));
}

void addBesideComputation(Lines &out, const Interference &i) {
  out.add(
      "  # All of the device's operations, %s alone (%s), while messages of %s by ring follow each "
      "other: %s.",
      timeText(i.alone.median).c_str(), spread(i.alone).c_str(), sizeText(i.bytes).c_str(),
      factor(i.computation).c_str());
  if (i.beside.samples > 0)
    out.add("  # These messages beside computation: %s.", factor(i.beside).c_str());
  out.add("  computation: %.4g", i.factor());
  addClasses(out, i, "  ");
  if (i.latency.samples == 0)
    return;
  out.add("  # The share of the time of a message of %s that operations lose to it: %s.",
          sizeText(LatencyOverlap::bytes).c_str(), share(i.latency).c_str());
  out.add("  latency: %.4g", i.latencyFactor());
}

void addInterference(Lines &out, const Interference &i) {
  const bool hasComputation = i.computation.samples > 0, hasMessages = i.messages.samples > 0;
  if (!hasComputation && !hasMessages)
    return;
  out.add("interference:");
  if (hasComputation)
    addBesideComputation(out, i);
  if (!hasMessages)
    return;
  out.add("  # Two messages at once on two channels: each takes %s.", factor(i.messages).c_str());
  out.add("  messages: %.4g", i.messageFactor());
}

void addScatter(Lines &out, const MessageScatter &scatter) {
  if (scatter.factors.empty()) {
    out.add(
        "# How messages scatter is not known: none took long enough to be timed alone %d times.",
        fewestForInterval);
    return;
  }
  out.add(
      "# How many times its median a message takes: quantiles of %d messages, and each of their "
      "%d sizes counts alike.",
      scatter.samples, scatter.sizes);
  constexpr std::size_t each = 8; // in a line
  std::string text;
  for (std::size_t i = 0; i < scatter.factors.size(); ++i)
    text += (i == 0          ? ""
             : i % each == 0 ? ",\n  "
                             : ", ") +
            core::formatted("%.4g", scatter.factors[i]);
  out.add("message-scatter: [%s]", text.c_str());
}

/// `beside` is the interference of the ring's messages, which holds where no other stands.
void addTable(Lines &out, const Table &table, const SchemeFinding &found,
              const Interference &beside, const std::string &key, const std::string &indent) {
  const char *in = indent.c_str();
  out.add("%s%s:", in, key.c_str());
  if (table.scheme == Scheme::library)
    out.add("%s  # NCCL chose the algorithm for each size.", in);
  out.add("%s  # One line would be %s + %s/MiB.", in, timeText(table.line.alpha).c_str(),
          timeText(table.line.beta * (1 << 20)).c_str());
  for (const Jump &jump : table.jumps)
    out.add("%s  # It does not fit from %s to %s: the time grows %.3g times as much.", in,
            sizeText(jump.before).c_str(), sizeText(jump.after).c_str(), jump.factor);
  if (found.besides.differsFrom(beside)) {
    out.add("%s  # Operations beside its messages of %s: %s.", in,
            sizeText(found.besides.bytes).c_str(), factor(found.besides.computation).c_str());
    if (found.besides.tellsClasses()) {
      out.add("%s  interference:", in);
      out.add("%s    computation: %.4g", in, found.besides.factor());
      addClasses(out, found.besides, (indent + "    ").c_str());
    } else {
      out.add("%s  interference: %.4g", in, found.besides.factor());
    }
  }
  out.add("%s  table:", in);
  std::size_t next = 0;
  for (const SizeFinding &size : found.sizes) {
    const bool isCost = next < table.costs.size() && table.costs[next].bytes == size.bytes;
    std::string note = spread(size.seconds);
    const std::string measured = timeText(size.seconds.median);
    const std::string cost = isCost ? timeText(table.costs[next++].seconds) : "";
    if (cost != measured)
      note = "measured " + measured + ", smoothed for it must not fall; " + note;
    if (isCost)
      out.add("%s    - [%s, %s] # %s", in, sizeText(size.bytes).c_str(), cost.c_str(),
              note.c_str());
    else
      out.add("%s    # %s: %s", in, sizeText(size.bytes).c_str(), note.c_str());
  }
}

/// The scheme's key in cluster files, and whether it belongs below `all-reduce`.
std::pair<std::string, bool> keyOf(Scheme scheme) {
  return {isGathered(scheme) ? "all-gather" : nameOf(scheme), isAllReduce(scheme)};
}

void addTables(Lines &out, const Findings &f, const Analysis &a) {
  if (a.tables.empty())
    return;
  out.add("collectives:");
  for (bool isAllReduce : {true, false}) {
    bool isFirst = true;
    for (const Table &table : a.tables) {
      const auto [key, among] = keyOf(table.scheme);
      if (among != isAllReduce)
        continue;
      if (among && isFirst)
        out.add("  all-reduce:");
      isFirst = false;
      for (const SchemeFinding &found : f.schemes)
        if (found.scheme == table.scheme)
          addTable(out, table, found, f.interference, key, among ? "    " : "  ");
    }
  }
}

} // namespace

std::string timeText(double seconds, int digits, const char *gap) {
  if (seconds < 1e-3)
    return core::formatted("%.*g%sus", digits, seconds * 1e6, gap);
  if (seconds < 1)
    return core::formatted("%.*g%sms", digits, seconds * 1e3, gap);
  return core::formatted("%.*g%ss", digits, seconds, gap);
}

std::string besideNote(const Findings &findings) {
  if (findings.besideOthers == 0)
    return "";
  constexpr double rounding = 1e-9;
  return core::formatted(
      "there was no time to measure computation beside messages of schemes other "
      "than the ring, whose factor stands for theirs: '--time %.0fs' has it",
      std::ceil(findings.besideOthers - rounding));
}

std::string clusterText(const Findings &findings, const Analysis &analysis, const Labels &labels) {
  Lines out;
  addHead(out, findings, labels);
  addDevice(out, findings.device);
  if (analysis.network)
    addLink(out, "network", *analysis.network);
  else
    out.add(
        "# Nothing is known of the network beside the collectives' times: no ring was measured.");
  addPairs(out, findings.pairs);
  if (analysis.inside)
    addLink(out, "inside", *analysis.inside);
  addInterference(out, findings.interference);
  addScatter(out, analysis.scatter);
  addTables(out, findings, analysis);
  return out.text;
}

} // namespace syncline::calibrate
