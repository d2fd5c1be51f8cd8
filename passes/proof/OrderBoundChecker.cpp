// Checks the bound on a period: one sum for every case of its certificate.
#include "passes/proof/BoundLimits.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/Rejections.h"

#include <deque>

namespace syncline::proof {

using Kind = OrderRejectionKind;
using Verdict = std::optional<OrderRejection>;

namespace {

/// What the channel needs at least for the layers that a certificate names: every message costs
/// `latency`, and each layer its work beside that. A second of reconstruction, or taken from
/// computation, counts as so many seconds as the weight of computation has for each unit of the
/// channel's weight.
struct ChannelWork {
  struct Part {
    double ready = 0, tail = 0, work = 0; ///< seconds
  };
  std::vector<Part> parts;
  double latency = infinity;
  double once = 0;   ///< seconds: the latency of one message, where one must be a bucket
  double beside = 0; ///< seconds that messages of all other layers take from computation
};

/// The layers of a certificate; with `inBuckets` only those that must travel in a bucket.
ChannelWork workOf(const OrderProblem &problem, const OrderCertificate &certificate,
                   const LeastLost &leastLost, bool inBuckets) {
  ChannelWork all;
  const double price = (1 - certificate.channelWeight) / certificate.channelWeight;
  double withoutBuckets = 0; // seconds more where no message of a merge class is sent
  for (std::size_t k = 0; k < problem.tail.size(); ++k) {
    const Layer &layer = problem.sync.layers[k];
    const double tail = problem.tailBehind(k);
    // A piggyback may arrive before its gradient would be ready, and empty ones do not travel.
    if (layer.carrier || layer.bytes == 0 || layer.ready < certificate.ready ||
        tail < certificate.tail || (inBuckets && !layer.factorOptions.empty())) {
      all.beside += leastLost.beside(k, certificate.channelWeight, certificate.lines);
      continue;
    }
    double inBucket = infinity, otherwise = infinity, latency = infinity;
    for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
      if (layer.mergeClasses >> l & 1) {
        const Relaxation::Line &line = certificate.lines[l];
        inBucket = std::min(inBucket, line.secondsPerByte * static_cast<double>(layer.bytes));
        latency = std::min(latency, line.latency);
      }
    for (const FactorOption &option : layer.factorOptions)
      otherwise = std::min(otherwise, option.seconds + price * (option.reconstruct + option.lost));
    const double least = std::min(inBucket, otherwise);
    all.parts.push_back({layer.ready, tail, least});
    all.latency = std::min(all.latency, latency);
    withoutBuckets += otherwise - least;
    // Factors are a message of their own, which may cost less than a bucket's latency more.
    if (layer.factorOptions.empty())
      all.once = std::max(all.once, latency);
    else
      all.latency = std::min(all.latency, otherwise - least);
  }
  all.latency = std::min(all.latency, withoutBuckets);
  return all;
}

/// The earliest end of messages that carry all parts, none of which starts before `release` of all
/// that it carries. Parts are sorted by `release`. Message j may also carry a share of a part; that
/// never helps where costs are lines (README.md, "The bound of an order").
double earliestEnd(const ChannelWork &all, double ChannelWork::Part::*release) {
  const std::size_t n = all.parts.size();
  std::vector<double> end(n + 1, 0), sum(n + 1, 0); // of the first j parts
  std::deque<std::size_t> late; // earlier cuts i with end[i] > release, end[i] - sum[i] ascending
  std::size_t early = 0;        // the last cut that has ended by the release
  for (std::size_t j = 1; j <= n; ++j) {
    const double from = all.parts[j - 1].*release;
    sum[j] = sum[j - 1] + all.parts[j - 1].work;
    while (early + 1 < j && end[early + 1] <= from)
      ++early;
    while (!late.empty() && late.front() <= early)
      late.pop_front();
    end[j] = std::max(from, end[early]) - sum[early];
    if (!late.empty())
      end[j] = std::min(end[j], end[late.front()] - sum[late.front()]);
    end[j] += sum[j] + all.latency;
    while (!late.empty() && end[late.back()] - sum[late.back()] >= end[j] - sum[j])
      late.pop_back();
    late.push_back(j);
  }
  return end[n];
}

/// When the last message with a part can end at the earliest, and what follows it.
double lastEnd(ChannelWork all, const OrderCertificate &certificate) {
  if (all.parts.empty())
    return 0;
  double work = all.once;
  for (const ChannelWork::Part &part : all.parts)
    work += part.work;
  const double inOne = certificate.ready + work + certificate.tail;
  // In a case that tells apart orders, ready times need not ascend.
  std::ranges::stable_sort(all.parts, {}, &ChannelWork::Part::ready);
  const double fromReady = earliestEnd(all, &ChannelWork::Part::ready) + certificate.tail;
  // Seen from the step's end backwards, messages may not end after their layers are needed.
  std::ranges::sort(all.parts, {}, &ChannelWork::Part::tail);
  const double fromTails = certificate.ready + earliestEnd(all, &ChannelWork::Part::tail);
  return std::max({inOne, fromReady, fromTails});
}

/// Seconds that no period can undercut because of the certificate's layers and of computation.
double provedBy(const OrderProblem &problem, const OrderCertificate &certificate) {
  const LeastLost leastLost(problem);
  const double weight = certificate.channelWeight;
  double layers = 0;
  for (bool inBuckets : {false, true}) {
    const ChannelWork work = workOf(problem, certificate, leastLost, inBuckets);
    layers = std::max(layers, weight * lastEnd(work, certificate) + work.beside);
  }
  return std::max(leastLost.period(), layers + (1 - weight) * problem.compute());
}

Verdict checkLines(const OrderProblem &problem, const OrderCertificate &certificate) {
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l) {
    const MergeClass &mergeClass = problem.sync.mergeClasses[l];
    const Relaxation::Line &line = certificate.lines[l];
    std::int64_t total = 0;
    for (const Layer &layer : problem.sync.layers)
      total += layer.mergeClasses >> l & 1 ? layer.bytes : 0;
    bool isUnder = isCheckedTime(line.latency) && isCheckedTime(line.secondsPerByte);
    const std::int64_t most = std::min(total, mergeClass.largestMessage);
    const double weight = certificate.channelWeight;
    const Relaxation::Line weighted{weight * line.latency, weight * line.secondsPerByte};
    for (const SchemeOption &option : mergeClass.options)
      isUnder = isUnder && (option.lost ? liesUnder(weighted, weight, option, most)
                                        : liesUnder(line, *option.cost, most));
    if (!isUnder)
      return reject(Kind::notALine, "the line ", line.latency, " s + ", line.secondsPerByte,
                    " s/B is not under every cost of merge class ", l + 1);
  }
  return std::nullopt;
}

Verdict checkNumbers(const OrderProblem &problem, const OrderCertificate &certificate) {
  for (double number : {certificate.ready, certificate.tail})
    if (!isCheckedTime(number))
      return reject(Kind::notALine, "expected finite times >= 0, got ", number);
  if (!(certificate.channelWeight > 0 && certificate.channelWeight <= 1))
    return reject(Kind::notALine, "expected a weight of the channel above 0 and at most 1, got ",
                  certificate.channelWeight);
  return checkLines(problem, certificate);
}

Verdict checkProved(double proved, double bound) {
  if (isBefore(proved, bound))
    return reject(Kind::boundNotProved, "the certificate proves ", proved, " s, not ", bound, " s");
  return std::nullopt;
}

/// Whether every case proves its bound. `left` is the number of cases that may still follow; with
/// `isOrdered` they may not tell apart ways.
Verdict checkCases(const OrderProblem &problem, const OrderCertificate &certificate,
                   std::size_t &left, bool isOrdered) {
  if (!isCheckedTime(certificate.bound))
    return reject(Kind::notALine, "expected finite times >= 0, got ", certificate.bound);
  if (certificate.cases.empty()) {
    if (left-- == 0)
      return reject(Kind::wrongCases, "expected at most ", OrderCertificate::maxCases, " cases");
    if (Verdict verdict = checkNumbers(problem, certificate))
      return verdict;
    return checkProved(provedBy(problem, certificate), certificate.bound);
  }
  const std::size_t layer = certificate.splits;
  const bool areAll = certificate.other ? canTellOrder(problem, layer, *certificate.other)
                                        : !isOrdered && travelsBothWays(problem, layer);
  if (certificate.cases.size() != 2 || !areAll)
    return certificate.other
               ? reject(Kind::wrongCases, "layers ", layer + 1, " and ", *certificate.other + 1,
                        ": expected one that must travel by factors, another one that travels by "
                        "itself, and two cases")
               : reject(Kind::wrongCases, "layer ", layer + 1,
                        ": expected a layer that travels by factors or in a bucket, and two cases");
  for (std::size_t i = 0; i < 2; ++i) {
    const OrderProblem one = !certificate.other ? restricted(problem, layer, i == 0)
                             : i == 0           ? ordered(problem, layer, *certificate.other)
                                                : ordered(problem, *certificate.other, layer);
    if (Verdict verdict =
            checkCases(one, certificate.cases[i], left, isOrdered || certificate.other))
      return verdict;
  }
  return checkProved(std::min(certificate.cases[0].bound, certificate.cases[1].bound),
                     certificate.bound);
}

} // namespace

Verdict checkOrderBound(const OrderProblem &problem, const OrderCertificate &certificate,
                        double period) {
  if (tellsClasses(problem.sync))
    return checkOrderBound(withLeastLosses(problem), certificate, period);
  std::size_t left = OrderCertificate::maxCases;
  if (Verdict verdict = checkCases(problem, certificate, left, false))
    return verdict;
  if (isBefore(period, certificate.bound))
    return reject(Kind::periodBelowBound, "the period of ", period, " s is below the bound of ",
                  certificate.bound, " s");
  return std::nullopt;
}

} // namespace syncline::proof
