// MergeChecker: the judge of certificates of merging alone (see checkSolution for solutions). It
// shares no code with any planner, runs in release builds and is part of SynclineProof, so a plan
// can be verified without the solver.
//
// Tolerance: two times agree when they differ by at most replayRounding (Rounding.h) of the larger.
// Functions are pure and thread-safe.
#pragma once

#include "passes/problem/MergeProblem.h"

#include <optional>
#include <string>

namespace syncline::proof {

using namespace problem;

/// Why a certificate is rejected. The numbers are stable; README.md lists them.
enum class MergeRejectionKind {
  certificateLength = 20,  ///< the certificate has not one entry more than there are layers
  certificateOrigin = 21,  ///< entry 0 is not 0
  certificateNumber = 22,  ///< an entry is negative or not finite
  certificateTooLate = 23, ///< an entry is later than a message from an earlier entry allows
};

struct MergeRejection {
  MergeRejectionKind kind;
  std::string message; ///< "M23: entry 3: ...", layers counted from 1
};

/// Returns nothing when no solution can finish before the certificate's last entry: entry 0 is 0
/// and entry j is at most max(entry i, r_j) + T(i+1..j) for all i < j. Otherwise returns the first
/// reason: M20 to M22 go before M23, which names the first entry that is too late.
///
/// Time: O(n K log n) for K straight pieces in all. Memory: O(n).
/// Precondition: the problem is valid.
std::optional<MergeRejection> checkMergeBound(const MergeProblem &problem,
                                              const MergeCertificate &certificate);

} // namespace syncline::proof
