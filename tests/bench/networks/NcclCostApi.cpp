// passes/problem/NcclCost as a shared library with C's calls, for fit.py.
#include "passes/problem/NcclCost.h"

using namespace syncline::problem;

namespace {

/// Nine numbers: seconds per byte, then latency and share by LL, LL128, Simple and in the switch.
NcclLink linkOf(const double *of) {
  NcclLink link{of[0], {of[1], of[2]}, {of[3], of[4]}, {of[5], of[6]}, {}};
  if (of[8] > 0)
    link.inSwitch = {of[7], of[8]};
  return link;
}

} // namespace

/// The seconds of `count` sizes by scheme 0 (library), 1 (ring) or 2 (tree).
extern "C" void ncclSeconds(int scheme, int nodes, int devices, const double *inside,
                            const double *between, int count, const long long *bytes,
                            double *seconds) {
  using syncline::Scheme;
  constexpr Scheme schemes[] = {Scheme::library, Scheme::ring, Scheme::tree};
  const auto cost = ncclCost(schemes[scheme], {nodes, devices, linkOf(inside), linkOf(between)});
  for (int i = 0; i < count; ++i)
    seconds[i] = cost->seconds(bytes[i]);
}
