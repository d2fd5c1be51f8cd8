// Findings as a network with known constants would give them.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/LinkFit.h"
#include "runtime/calibrate/Pairs.h"

namespace syncline::calibrate::testing {

/// Many samples of nearly one value.
inline Summary steady(double value) {
  return {.samples = 20,
          .median = value,
          .lowerQuartile = value * 0.99,
          .upperQuartile = value * 1.01,
          .low = value * 0.99,
          .high = value * 1.01};
}

/// Few samples from half the value to twice the value.
inline Summary wild(double value) {
  return {.samples = 6,
          .median = value,
          .lowerQuartile = value * 0.6,
          .upperQuartile = value * 1.8,
          .low = value * 0.5,
          .high = value * 2};
}

inline KernelFinding kernel(const char *name, double flops, double bytes, double seconds) {
  return {.name = name,
          .flops = flops,
          .bytes = bytes,
          .seconds = steady(seconds),
          .fastestRank = 0.9 * seconds};
}

/// A device of 40 GFLOP/s and 10 GB/s; the ring, a tree and factors on links of which the slowest
/// pair says 500 MB/s; computation beside messages takes 1.3 times as long.
inline Findings invent(int ranks, const LinkConstants &link) {
  Findings f;
  f.ranks = ranks;
  f.hosts.assign(ranks, "alpha");
  f.conditions = "compute threads a rank: 2";
  f.device.compute = {kernel("convolution", 4e8, 1e6, 10e-3)};
  f.device.memory = {kernel("sum", 1e6, 1e8, 10e-3)};
  f.device.smallest = kernel("small", 16, 192, 1e-6);
  f.pairs = {{.partner = 1, .latency = steady(30e-6), .stream = steady(Pairs::streamBytes * 2e-9)},
             {.partner = 2, .latency = steady(40e-6), .stream = steady(Pairs::streamBytes * 1e-9)}};
  for (Scheme name : {Scheme::ring, Scheme::tree, Scheme::factors}) {
    SchemeFinding scheme{name, {}};
    for (std::int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
      const Scheme like = name == Scheme::tree ? Scheme::ring : name;
      const double seconds = link.predict(*ringRounds(like, ranks, static_cast<double>(bytes)));
      scheme.sizes.push_back({bytes, steady(seconds)});
    }
    f.schemes.push_back(scheme);
  }
  f.interference = {.alone = steady(0.11),
                    .computation = steady(1.25),
                    .beside = steady(2),
                    .bytes = 16 << 20,
                    .messages = steady(1.9)};
  f.seconds = 12;
  return f;
}

} // namespace syncline::calibrate::testing
