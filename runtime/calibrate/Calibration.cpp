// Stages, each with its share of the time.
#include "runtime/calibrate/Calibration.h"

#include "runtime/calibrate/Refinement.h"
#include "runtime/calibrate/SizeText.h"
#include "runtime/transport/collectives/RankSubset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::calibrate {
namespace {

/// By which part of the time each stage ends.
constexpr double deviceEnd = 0.12, pairsEnd = 0.18, insideEnd = 0.24, gridEnd = 0.68,
                 refinementEnd = 0.9;
/// The fewest rounds of a size: a median of three ignores one outlier.
constexpr int leastRounds = 3;
/// Messages shorter than this are over before the computation beside them feels it.
constexpr std::int64_t shortestOfInterference = 64 << 10;

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
           &Calibration::measureInside, &Calibration::measureGrid, &Calibration::refine,
           &Calibration::measureMessages})
    if (Status s = (this->*stage)(); !s)
      return Status::error(s.kind(), s.message() + " while measuring " + progress.current());
  summarizeInterference();
  findings.ranks = transport.size();
  findings.ranksPerNode = settings.ranksPerNode;
  findings.threads = settings.threads;
  findings.seconds = team->now();
  return findings;
}

Status Calibration::open() {
  progress.tell("nothing yet: connecting", 0);
  auto madeDevice = Device::create(settings.threads);
  if (!madeDevice)
    return madeDevice.status();
  device = std::move(*madeDevice);
  auto madeTeam = Team::create(transport, "calibrate");
  if (!madeTeam)
    return madeTeam.status();
  team = std::move(*madeTeam);
  auto madePairs = Pairs::open(transport);
  if (!madePairs)
    return madePairs.status();
  pairs = std::move(*madePairs);
  const RankLayout layout{.ranksPerNode = settings.ranksPerNode};
  const std::int64_t largest = settings.sizes.back();
  for (auto [name, schemes, into] :
       {std::tuple("calibrate/0", settings.schemes, &collectives),
        std::tuple("calibrate/1", std::vector{settings.schemes.front()}, &second)}) {
    auto made = openCollectives(transport, layout, schemes, largest, name);
    if (!made)
      return made.status();
    *into = std::move(*made);
  }
  for (const std::string &scheme : settings.schemes)
    findings.schemes.push_back({scheme, {}});
  if (settings.ranksPerNode == 1 || settings.ranksPerNode == transport.size())
    return Status::ok();
  std::vector<int> members(settings.ranksPerNode);
  std::iota(members.begin(), members.end(),
            transport.rank() / settings.ranksPerNode * settings.ranksPerNode);
  node = std::make_unique<RankSubset>(transport, members);
  auto madeNode = Team::create(*node, "calibrate/node");
  if (!madeNode)
    return madeNode.status();
  nodeTeam = std::move(*madeNode);
  auto ring = openCollectives(*node, {}, {"ring"}, largest, "calibrate/node");
  if (ring)
    nodeRing = std::move(*ring);
  return ring.status();
}

double Calibration::deadline(double until, int measurements) const {
  return team->now() + std::max(0.0, until - team->now()) / std::max(1, measurements);
}

Result<KernelFinding> Calibration::measureKernel(const Kernel &kernel, double until) {
  progress.tell(kernel.name, team->now());
  auto time = [&](int runs) -> Result<double> {
    if (Status s = team->align(); !s)
      return s;
    auto start = Clock::now();
    for (int run = 0; run < runs; ++run)
      if (Status s = device->run(kernel); !s)
        return s;
    return secondsSince(start) / runs;
  };
  std::vector<double> fastest;
  int runs = 1;
  const Sample sample = [&]() -> Result<double> {
    Result<double> own = time(runs);
    if (!own)
      return own;
    Result<std::vector<double>> all = team->share(*own);
    if (!all)
      return all.status();
    const auto [least, most] = std::minmax_element(all->begin(), all->end());
    fastest.push_back(*least);
    return *most;
  };
  Result<double> first = sample(); // also prepares what the first run prepares
  if (!first)
    return first.status();
  constexpr double longEnough = 2e-3;
  constexpr double mostRuns = 10000;
  runs = static_cast<int>(std::clamp(longEnough / std::max(*first, 1e-9), 1.0, mostRuns));
  fastest.clear();
  auto summaries = repeat(std::span(&sample, 1), {.least = leastRounds, .until = until},
                          [&] { return team->now(); });
  if (!summaries)
    return summaries.status();
  return KernelFinding{kernel.name, kernel.flops, kernel.bytes, summaries->front(),
                       summarize(fastest).median};
}

Status Calibration::measureDevice() {
  const double until = deviceEnd * settings.seconds;
  DeviceFinding &found = findings.device;
  int left = static_cast<int>(device->compute().size() + device->memory().size()) + 1;
  for (auto [kernels, into] :
       {std::pair(&device->compute(), &found.compute), std::pair(&device->memory(), &found.memory)})
    for (const Kernel &kernel : *kernels) {
      auto measured = measureKernel(kernel, deadline(until, left--));
      if (!measured)
        return measured.status();
      into->push_back(*measured);
    }
  auto smallest = measureKernel(device->smallest(), deadline(until, left));
  if (smallest)
    found.smallest = *smallest;
  return smallest.status();
}

Status Calibration::measurePairs() {
  const std::vector<int> partners = pairs->partners();
  int left = static_cast<int>(partners.size());
  for (int partner : partners) {
    progress.tell("ranks 0 and " + std::to_string(partner), team->now());
    const Sample samples[] = {[&] { return pairs->latency(*team, partner); },
                              [&] { return pairs->stream(*team, partner); }};
    auto summaries = repeat(
        samples, {.least = leastRounds, .until = deadline(pairsEnd * settings.seconds, left--)},
        [&] { return team->now(); });
    if (!summaries)
      return summaries.status();
    findings.pairs.push_back({partner, (*summaries)[0], (*summaries)[1]});
  }
  return Status::ok();
}

Result<SizeFinding> Calibration::measureSize(Team &among, const Collective &by, std::int64_t bytes,
                                             double until) {
  const Transfer transfer{&by, bytes};
  // Here and now: what else the machine does comes and goes.
  Result<double> alone = timeLoad(among, *device);
  if (!alone)
    return alone.status();
  double last[2], fastest[2]; // idle, loaded
  for (Device *load : {static_cast<Device *>(nullptr), device.get()}) {
    auto once = timeTransfers(among, std::span(&transfer, 1), {}, load);
    if (!once)
      return once.status();
    last[load ? 1 : 0] = fastest[load ? 1 : 0] = once->seconds;
  }
  std::vector<double> slowed;
  auto sample = [&](Device *load) -> Result<double> {
    double &seconds = last[load ? 1 : 0], &least = fastest[load ? 1 : 0];
    auto timing =
        timeTransfers(among, std::span(&transfer, 1), Repetitions::of(bytes, least, seconds), load);
    if (!timing)
      return timing.status();
    if (timing->computing > 0)
      slowed.push_back(timing->computing / *alone);
    least = std::min(least, timing->seconds);
    return seconds = timing->seconds;
  };
  const Sample samples[] = {[&] { return sample(nullptr); }, [&] { return sample(device.get()); }};
  auto summaries =
      repeat(samples, {.least = leastRounds, .until = until}, [&] { return among.now(); });
  if (!summaries)
    return summaries.status();
  if (!slowed.empty() && bytes >= shortestOfInterference)
    slowedComputation.push_back(summarize(slowed).median);
  const SizeFinding size{bytes, (*summaries)[0], (*summaries)[1]};
  if (bytes >= shortestOfInterference)
    slowedMessages.push_back(size.loaded.median / size.idle.median);
  return size;
}

/// All nodes at once, each by itself: their ranks' clocks and decisions are the node's.
Status Calibration::measureInside() {
  if (!node)
    return Status::ok();
  findings.inside.scheme = "ring";
  const double seconds = (insideEnd - pairsEnd) * settings.seconds;
  if (Result<double> clock = nodeTeam->slowest(0); !clock)
    return clock.status();
  const double start = nodeTeam->now();
  for (std::size_t i = 0; i < settings.sizes.size(); ++i) {
    progress.tell("the ring inside a node", team->now());
    const double share = static_cast<double>(i + 1) / static_cast<double>(settings.sizes.size());
    auto size =
        measureSize(*nodeTeam, nodeRing.front(), settings.sizes[i], start + share * seconds);
    if (!size)
      return size.status();
    // The slowest node's times are everybody's.
    for (Summary *summary : {&size->idle, &size->loaded}) {
      Result<double> slowest = team->slowest(summary->median);
      if (!slowest)
        return slowest.status();
      summary->median = *slowest;
    }
    findings.inside.sizes.push_back(*size);
  }
  return Status::ok();
}

Status Calibration::addSize(std::size_t scheme, std::int64_t bytes, double until) {
  const Collective &by = collectives[scheme];
  progress.tell(by.scheme + " of " + sizeText(bytes), team->now());
  auto size = measureSize(*team, by, bytes, until);
  if (!size)
    return size.status();
  std::vector<SizeFinding> &sizes = findings.schemes[scheme].sizes;
  auto after = std::find_if(sizes.begin(), sizes.end(),
                            [&](const SizeFinding &other) { return other.bytes > bytes; });
  sizes.insert(after, *size);
  return Status::ok();
}

/// Whether all schemes can be measured at this size, the fewest rounds of each. Short messages
/// always can.
bool Calibration::hasTimeFor(std::int64_t bytes, double until) const {
  double needed = 0;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const std::vector<SizeFinding> &sizes = findings.schemes[i].sizes;
    if (sizes.empty() || bytes > collectives[i].largest)
      continue;
    const SizeFinding &last = sizes.back();
    const double growth = static_cast<double>(bytes) / static_cast<double>(last.bytes);
    const double both = last.idle.median + last.loaded.median;
    // Short messages cost their latency, which does not grow.
    if (last.bytes >= shortestOfInterference)
      needed += growth * (leastRounds + 2) * both;
  }
  return needed == 0 || needed <= until - team->now();
}

Status Calibration::measureGrid() {
  const double until = gridEnd * settings.seconds;
  int left = 0;
  for (const Collective &by : collectives)
    left += static_cast<int>(std::count_if(settings.sizes.begin(), settings.sizes.end(),
                                           [&](std::int64_t b) { return b <= by.largest; }));
  for (std::int64_t bytes : settings.sizes) {
    if (!hasTimeFor(bytes, until)) {
      findings.leftOut.push_back(bytes);
      continue;
    }
    for (std::size_t i = 0; i < collectives.size(); ++i)
      if (bytes <= collectives[i].largest)
        if (Status s = addSize(i, bytes, deadline(until, left--)); !s)
          return s;
  }
  return Status::ok();
}

Status Calibration::refine() {
  const double until = refinementEnd * settings.seconds;
  const bool isLoaded = plansLoaded();
  std::vector<Refinement> searches;
  for (const SchemeFinding &scheme : findings.schemes)
    searches.emplace_back(scheme.curve(isLoaded));
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (std::size_t i = 0; i < searches.size() && team->now() < until; ++i) {
      const std::optional<std::int64_t> bytes = searches[i].next();
      if (!bytes)
        continue;
      isDone = false;
      constexpr int pointsPerScheme = 4; // there may be fewer to come, and others need time
      const int points = pointsPerScheme * static_cast<int>(searches.size());
      if (Status s = addSize(i, *bytes, deadline(until, points)); !s)
        return s;
      for (const SizeFinding &size : findings.schemes[i].sizes)
        if (size.bytes == *bytes)
          searches[i].tell(size.of(isLoaded).median, size.of(isLoaded).uncertainty());
    }
  }
  return Status::ok();
}

Status Calibration::measureMessages() {
  Device *load = plansLoaded() ? device.get() : nullptr;
  std::vector<std::int64_t> sizes;
  for (const SizeFinding &size : findings.schemes.front().sizes)
    if (size.bytes >= shortestOfInterference && size.bytes <= 4 << 20)
      sizes.push_back(size.bytes);
  int left = static_cast<int>(sizes.size());
  for (std::int64_t bytes : sizes) {
    progress.tell("two messages of " + sizeText(bytes) + " at once", team->now());
    const Transfer transfers[] = {{&collectives.front(), bytes}, {&second.front(), bytes}};
    double alone = 1, fastest = 1; // seconds; so that the first sample is one message
    auto time = [&](std::size_t atOnce) -> Result<double> {
      auto timing = timeTransfers(*team, std::span(transfers).first(atOnce),
                                  Repetitions::of(bytes, fastest, alone), load);
      if (!timing)
        return timing.status();
      fastest = std::min(fastest, timing->seconds);
      return timing->seconds;
    };
    const Sample samples[] = {[&]() -> Result<double> {
                                Result<double> one = time(1);
                                alone = one ? *one : alone;
                                return one;
                              },
                              [&]() -> Result<double> {
                                Result<double> both = time(2);
                                return both ? Result<double>(*both / alone) : both;
                              }};
    auto summaries =
        repeat(samples, {.least = leastRounds, .until = deadline(settings.seconds, left--)},
               [&] { return team->now(); });
    if (!summaries)
      return summaries.status();
    crowdedMessages.push_back((*summaries)[1].median);
  }
  return Status::ok();
}

void Calibration::summarizeInterference() {
  findings.interference.computation = summarize(slowedComputation);
  findings.interference.communication = summarize(slowedMessages);
  findings.interference.messages = summarize(crowdedMessages);
}

} // namespace syncline::calibrate
