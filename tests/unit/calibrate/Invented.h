// Findings as a network with known constants would give them.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/LinkFit.h"
#include "runtime/calibrate/Pairs.h"

namespace syncline::calibrate::testing {

/// Many samples of nearly one value.
inline Summary steady(double value) {
  return {20, value, value * 0.99, value * 1.01, value * 0.99, value * 1.01};
}

/// Half and twice the value are as likely.
inline Summary wild(double value) {
  return {6, value, value * 0.6, value * 1.8, value * 0.5, value * 2};
}

/// A device of 40 GFLOP/s and 10 GB/s; the ring, a tree and factors on links of which the slowest
/// pair says 500 MB/s; computation beside messages takes 1.3 times as long.
inline Findings invent(int ranks, const LinkConstants &link) {
  Findings f;
  f.ranks = ranks;
  f.hosts.assign(ranks, "alpha");
  f.conditions = "compute threads a rank: 2";
  f.device.compute = {{"convolution", 4e8, 1e6, steady(10e-3), 9e-3}};
  f.device.memory = {{"sum", 1e6, 1e8, steady(10e-3), 9e-3}};
  f.device.smallest = {"small", 16, 192, steady(1e-6), 1e-6};
  f.pairs = {{1, steady(30e-6), steady(Pairs::streamBytes * 2e-9)},
             {2, steady(40e-6), steady(Pairs::streamBytes * 1e-9)}};
  for (Scheme name : {Scheme::ring, Scheme::tree, Scheme::factors}) {
    SchemeFinding scheme{name, {}};
    for (std::int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
      const Scheme like = name == Scheme::tree ? Scheme::ring : name;
      const double seconds = link.predict(*ringRounds(like, ranks, static_cast<double>(bytes)));
      scheme.sizes.push_back({bytes, steady(seconds)});
    }
    f.schemes.push_back(scheme);
  }
  f.interference = {steady(0.11), steady(1.25), steady(2), 16 << 20, steady(1.9)};
  f.seconds = 12;
  return f;
}

} // namespace syncline::calibrate::testing
