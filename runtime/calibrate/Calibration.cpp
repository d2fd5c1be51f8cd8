// The stages of a calibration, each with its share of the time.
#include "runtime/calibrate/Calibration.h"

#include "runtime/calibrate/Budget.h"
#include "runtime/calibrate/Refinement.h"
#include "runtime/calibrate/SizeText.h"

#include <algorithm>

namespace syncline::calibrate {
namespace {

/// The part of the whole time at which each stage ends.
constexpr double deviceEnd = 0.1, pairsEnd = 0.14, insideEnd = 0.18, overlapEnd = 0.38,
                 gridEnd = 0.86, refinementEnd = 0.96;
/// The fewest rounds of a size; a median of three ignores one outlier.
constexpr int minRounds = 3;
/// Times of shorter messages cannot be scaled to longer ones. For shorter messages there is
/// always time.
constexpr std::int64_t shortestToScale = 64 << 10;
/// Bytes of the message by which longer ones are estimated.
constexpr std::int64_t probeBytes = 1 << 20;

/// With fewer seconds for each scheme the factors beside their messages would not be certain.
constexpr double leastBeside = 1;

/// Whether computation is measured beside messages by this scheme, besides those by the ring.
bool isOther(Scheme scheme) { return isSum(scheme) && scheme != Scheme::ring; }

} // namespace

std::vector<std::int64_t> defaultSizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

Result<Findings> Calibration::run() {
  using Stage = Status (Calibration::*)();
  for (Stage stage : std::initializer_list<Stage>{
           &Calibration::open, &Calibration::measureDevice, &Calibration::measurePairs,
           &Calibration::measureInside, &Calibration::measureOverlap, &Calibration::measureGrid,
           &Calibration::refine, &Calibration::measureMessages})
    if (Status s = (this->*stage)(); !s)
      return Status::error(s.kind(), s.message() + " while measuring " + progress.current());
  findings.ranks = team->size();
  findings.ranksPerNode = settings.ranksPerNode;
  findings.seconds = team->now();
  return findings;
}

Status Calibration::open() {
  progress.tell("nothing yet: connecting", 0);
  SYNCLINE_TRY_GET(opened, Instruments::open(site, settings));
  with = std::move(*opened);
  team = with.team.get();
  for (Scheme scheme : settings.schemes)
    findings.schemes.push_back({scheme, {}});
  return Status::ok();
}

double Calibration::deadline(double until, int measurements) const {
  return team->now() + std::max(0.0, until - team->now()) / std::max(1, measurements);
}

Result<KernelFinding> Calibration::measureKernel(const Kernel &kernel, double until) {
  progress.tell(kernel.name, team->now());
  auto time = [&](int runs) -> Result<double> {
    SYNCLINE_TRY(team->align());
    Result<double> seconds = with.device->time([&] { return with.device->run(kernel, runs); });
    return seconds ? Result<double>(*seconds / runs) : seconds;
  };
  std::vector<double> fastest;
  int runs = 1;
  const Sample sample = [&]() -> Result<double> {
    SYNCLINE_TRY_GET(own, time(runs));
    SYNCLINE_TRY_GET(all, team->share(*own));
    const auto [least, most] = std::minmax_element(all->begin(), all->end());
    fastest.push_back(*least);
    return *most;
  };
  SYNCLINE_TRY_GET(seconds, takeWarm(sample));
  constexpr double longEnough = 2e-3;
  constexpr double maxRuns = 10000;
  runs = static_cast<int>(std::clamp(longEnough / std::max(*seconds, 1e-9), 1.0, maxRuns));
  fastest.clear();
  SYNCLINE_TRY_GET(summaries,
                   repeat(std::span(&sample, 1), {.minRounds = minRounds, .until = until},
                          [&] { return team->now(); }));
  removeWarmUps(fastest, summaries->front());
  return KernelFinding{kernel.name, kernel.flops, kernel.bytes, summaries->front(),
                       summarize(fastest).median};
}

Status Calibration::measureDevice() {
  const double until = deviceEnd * settings.seconds;
  DeviceFinding &found = findings.device;
  const Device *device = with.device.get();
  int left = static_cast<int>(device->compute().size() + device->memory().size()) + 1;
  for (auto [kernels, into] :
       {std::pair(&device->compute(), &found.compute), std::pair(&device->memory(), &found.memory)})
    for (const Kernel &kernel : *kernels) {
      SYNCLINE_TRY_GET(measured, measureKernel(kernel, deadline(until, left--)));
      into->push_back(*measured);
    }
  auto smallest = measureKernel(device->smallest(), deadline(until, left));
  if (smallest)
    found.smallest = *smallest;
  return smallest.status();
}

Status Calibration::measurePairs() {
  if (!with.pairs)
    return Status::ok();
  const std::vector<int> partners = with.pairs->partners();
  int left = static_cast<int>(partners.size());
  for (int partner : partners) {
    progress.tell("ranks 0 and " + std::to_string(partner), team->now());
    const Sample samples[] = {[&] { return with.pairs->latency(*team, partner); },
                              [&] { return with.pairs->stream(*team, partner); }};
    SYNCLINE_TRY_GET(summaries, repeat(samples,
                                       {.minRounds = minRounds,
                                        .until = deadline(pairsEnd * settings.seconds, left--)},
                                       [&] { return team->now(); }));
    findings.pairs.push_back({partner, (*summaries)[0], (*summaries)[1]});
  }
  return Status::ok();
}

Result<SizeFinding> Calibration::measureSize(Team &ranks, const TimedScheme &scheme,
                                             std::int64_t bytes, double until) {
  SYNCLINE_TRY_GET(once, scheme.time(bytes, {}));
  double last = *once, fastest = *once;
  std::vector<double> single;
  bool isSingle = true;
  const Sample sample = [&]() -> Result<double> {
    const Repetitions times = Repetitions::of(bytes, fastest, last);
    Result<double> seconds = scheme.time(bytes, times);
    if (seconds) {
      last = *seconds;
      fastest = std::min(fastest, last);
      single.push_back(last);
      isSingle &= times.runs == 1;
    }
    return seconds;
  };
  StopRule rule{.minRounds = minRounds, .until = until};
  if (last >= longMessage)
    rule = {.minRounds = 2, .stableRounds = minRounds, .warmUps = 0, .until = until};
  SYNCLINE_TRY_GET(summaries, repeat(std::span(&sample, 1), rule, [&] { return ranks.now(); }));
  removeWarmUps(single, summaries->front());
  return SizeFinding{bytes, summaries->front(), isSingle ? single : std::vector<double>()};
}

/// Measures the ring inside the nodes. All nodes measure at the same time, each with its own clock
/// and its own decisions.
Status Calibration::measureInside() {
  if (!with.nodeRing)
    return Status::ok();
  Team *nodeTeam = with.nodeTeam.get();
  findings.inside.scheme = Scheme::ring;
  const double seconds = (insideEnd - pairsEnd) * settings.seconds;
  SYNCLINE_TRY(nodeTeam->slowest(0));
  const double start = nodeTeam->now();
  for (std::size_t i = 0; i < settings.sizes.size(); ++i) {
    progress.tell("the ring inside a node", team->now());
    const double share = static_cast<double>(i + 1) / static_cast<double>(settings.sizes.size());
    SYNCLINE_TRY_GET(
        size, measureSize(*nodeTeam, *with.nodeRing, settings.sizes[i], start + share * seconds));
    // All nodes report the times of the slowest node.
    SYNCLINE_TRY_GET(slowest, team->slowest(size->seconds.median));
    size->seconds.median = *slowest;
    findings.inside.sizes.push_back(*size);
  }
  return Status::ok();
}

Status Calibration::measureOverlap() {
  const double until = overlapEnd * settings.seconds;
  Summary latency;
  if (with.latencyOverlap) {
    progress.tell("computation beside short messages", team->now());
    SYNCLINE_TRY_GET(found, with.latencyOverlap->measure(deadline(until, 3)));
    latency = *found;
  }
  int others = 0;
  for (const SchemeFinding &found : findings.schemes)
    others += isOther(found.scheme);
  // The ring has half of the time, or all: it stands for schemes that are not measured, too.
  if (const double now = team->now(); (until - now) / 2 < others * leastBeside) {
    const double share = insideEnd + (with.latencyOverlap ? (overlapEnd - insideEnd) / 3 : 0);
    findings.besideOthers = timeFor(2 * others * leastBeside, {share, overlapEnd}, now);
    others = 0;
  }
  SYNCLINE_TRY_GET(ring, measureOverlap(Scheme::ring, others > 0 ? deadline(until, 2) : until));
  findings.interference = *ring;
  findings.interference.latency = latency;
  for (SchemeFinding &found : findings.schemes)
    if (others > 0 && isOther(found.scheme)) {
      SYNCLINE_TRY_GET(beside, measureOverlap(found.scheme, deadline(until, others--)));
      found.besides = *beside;
    }
  return Status::ok();
}

Result<Interference> Calibration::measureOverlap(Scheme scheme, double until) {
  progress.tell("computation beside messages by " + std::string(schemeName(scheme)), team->now());
  SYNCLINE_TRY_GET(overlap, with.openOverlap(scheme));
  return (*overlap)->measure(until);
}

Status Calibration::addSize(std::size_t scheme, std::int64_t bytes, double until) {
  const TimedScheme &by = with.messages.schemes[scheme];
  progress.tell(std::string(schemeName(by.scheme)) + " of " + sizeText(bytes), team->now());
  SYNCLINE_TRY_GET(size, measureSize(*team, by, bytes, until));
  std::vector<SizeFinding> &sizes = findings.schemes[scheme].sizes;
  auto after = std::find_if(sizes.begin(), sizes.end(),
                            [&](const SizeFinding &other) { return other.bytes > bytes; });
  sizes.insert(after, *size);
  return Status::ok();
}

/// Times one message of each scheme, to estimate for which sizes there is time.
Status Calibration::probe() {
  for (const TimedScheme &scheme : with.messages.schemes) {
    progress.tell(std::string(schemeName(scheme.scheme)), team->now());
    const std::int64_t bytes = std::min(probeBytes, scheme.largest) / 4 * 4;
    if (bytes == 0) { // all sizes are too long for the scheme
      probes.push_back({});
      continue;
    }
    SYNCLINE_TRY_GET(seconds, scheme.time(bytes, {.warmUps = 1}));
    probes.push_back({bytes, *seconds});
  }
  return Status::ok();
}

/// Estimated seconds of one message, in proportion to the longest timed one.
double Calibration::estimate(std::size_t scheme, std::int64_t bytes) const {
  Point known = probes[scheme];
  const std::vector<SizeFinding> &sizes = findings.schemes[scheme].sizes;
  if (!sizes.empty() && sizes.back().bytes >= std::min(shortestToScale, known.bytes))
    known = {sizes.back().bytes, sizes.back().seconds.median};
  return known.seconds * static_cast<double>(bytes) / static_cast<double>(known.bytes);
}

/// The least seconds for each size, over all schemes.
std::vector<double> Calibration::minCosts(std::span<const std::int64_t> sizes) const {
  std::vector<double> costs;
  for (std::int64_t bytes : sizes) {
    costs.push_back(0);
    for (std::size_t i = 0; i < with.messages.schemes.size(); ++i)
      if (bytes <= with.messages.schemes[i].largest)
        costs.back() += minCost(estimate(i, bytes));
  }
  return costs;
}

/// Measures all sizes, shortest first. Short sizes and the first one are measured even if no time
/// is left; spare time is shared equally among all sizes.
Status Calibration::measureGrid() {
  SYNCLINE_TRY(probe());
  const double until = gridEnd * settings.seconds;
  const std::span<const std::int64_t> all(settings.sizes);
  const std::vector<TimedScheme> &schemes = with.messages.schemes;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const Allotment allotted = allot(minCosts(all.subspan(at)), until - team->now());
    if (at > 0 && all[at] > shortestToScale && allotted.sizes == 0) {
      findings.unmeasured.assign(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
      break;
    }
    const std::size_t measured = std::max(1, allotted.sizes) * schemes.size();
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      if (all[at] > schemes[i].largest)
        continue;
      const double seconds =
          minCost(estimate(i, all[at])) + allotted.spare / static_cast<double>(measured);
      SYNCLINE_TRY(addSize(i, all[at], team->now() + seconds));
    }
  }
  return Status::ok();
}

/// Measures further sizes where the curves bend. A size that would take much of the remaining time
/// is skipped, because times of long messages lie on a line.
Status Calibration::refine() {
  const double until = refinementEnd * settings.seconds;
  std::vector<Refinement> searches;
  for (const SchemeFinding &scheme : findings.schemes)
    searches.emplace_back(scheme.curve());
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (std::size_t i = 0; i < searches.size() && team->now() < until; ++i) {
      const std::optional<std::int64_t> bytes = searches[i].next();
      if (!bytes)
        continue;
      isDone = false;
      constexpr int pointsPerScheme = 4; // an estimate, so that time is left for all schemes
      const int points = pointsPerScheme * static_cast<int>(searches.size());
      const double left = until - team->now();
      if (minCost(estimate(i, *bytes)) > left / 8) {
        searches[i].skip();
        continue;
      }
      SYNCLINE_TRY(addSize(i, *bytes, deadline(until, points)));
      for (const SizeFinding &size : findings.schemes[i].sizes)
        if (size.bytes == *bytes)
          searches[i].tell(size.seconds.median, size.seconds.uncertainty());
    }
  }
  return Status::ok();
}

Status Calibration::measureMessages() {
  std::vector<std::int64_t> sizes;
  for (const SizeFinding &size : findings.schemes.front().sizes)
    if (size.bytes >= shortestToScale && size.bytes <= 4 << 20)
      sizes.push_back(size.bytes);
  int left = static_cast<int>(sizes.size());
  std::vector<double> crowded;
  for (std::int64_t bytes : sizes) {
    progress.tell("two messages of " + sizeText(bytes) + " at once", team->now());
    double alone = 1, fastest = 1; // seconds; with 1 s the first sample is one message
    auto time = [&](const Timing &timing) -> Result<double> {
      Result<double> seconds = timing(bytes, Repetitions::of(bytes, fastest, alone));
      if (seconds)
        fastest = std::min(fastest, *seconds);
      return seconds;
    };
    const Sample samples[] = {[&]() -> Result<double> {
                                Result<double> one = time(with.messages.schemes.front().time);
                                alone = one ? *one : alone;
                                return one;
                              },
                              [&]() -> Result<double> {
                                Result<double> both = time(with.messages.two);
                                return both ? Result<double>(*both / alone) : both;
                              }};
    SYNCLINE_TRY_GET(summaries,
                     repeat(samples,
                            {.minRounds = minRounds, .until = deadline(settings.seconds, left--)},
                            [&] { return team->now(); }));
    crowded.push_back((*summaries)[1].median);
  }
  findings.interference.messages = summarize(crowded);
  return Status::ok();
}

} // namespace syncline::calibrate
