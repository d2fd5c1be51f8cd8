// MergeChecker: the judge of merge plans and certificates. Shares no code with any planner, runs in
// release builds and stands in a library of its own (SynclineMergeCheck), so that a plan can be
// verified without the solver.
//
// Tolerance: two times agree when they differ by at most 1e-12 of the larger. Thread-safe.
#pragma once

#include "passes/solver/MergeProblem.h"

#include <optional>
#include <string>

namespace syncline::solver {

/// Why a plan (1..) or a certificate (20..) is rejected. The numbers are stable; README.md lists
/// them.
enum class RejectionKind {
  emptyGroup = 1,          ///< a group has no layers
  layerMissing = 2,        ///< a layer is in no group
  layerTwice = 3,          ///< a layer is in two groups
  layerUnknown = 4,        ///< a group has a layer that does not exist
  optionUnknown = 5,       ///< a group uses a scheme the problem does not offer
  wrongBytes = 6,          ///< a group's bytes are not the sum of its layers'
  notATime = 7,            ///< a time is negative or not finite
  wrongReady = 8,          ///< a group's ready time is not that of its last member
  startsBeforeReady = 9,   ///< a group starts before its last member is ready
  channelBusy = 10,        ///< a group starts before the one before it ends
  wrongDuration = 11,      ///< a group does not take the time its cost says
  wrongFinish = 12,        ///< the finish is not the end of the last group
  certificateLength = 20,  ///< the certificate has not one entry more than there are layers
  certificateOrigin = 21,  ///< entry 0 is not 0
  certificateNumber = 22,  ///< an entry is negative or not finite
  certificateTooLate = 23, ///< an entry is later than a message from an earlier entry allows
  boundNotReached = 24,    ///< the plan ends later than the certificate's last entry
  boundUndercut = 25,      ///< the plan ends earlier than the certificate's last entry
};

struct Rejection {
  RejectionKind kind;
  std::string message; ///< "M9: group 3: ...", groups and layers counted from 1
};

/// Nothing when the solution is a plan for the problem: every layer once, in order, and times that
/// obey ready times, the channel and the costs. Does not ask whether it is a good plan. Linear
/// time. Precondition: the problem is valid.
std::optional<Rejection> checkSolution(const MergeProblem &problem, const Solution &solution);

/// Nothing when no plan can finish before the certificate's last entry: entry 0 is 0 and entry j is
/// at most max(entry i, r_j) + T(i+1..j) for all i < j. Looks at every pair, except where r_j plus
/// the least time of a straight piece already settles it: n^2/2 at worst. Precondition: the
/// problem is valid.
std::optional<Rejection> checkBound(const MergeProblem &problem, const Certificate &certificate);

/// checkBound, and the plan ends exactly then: nothing when a checked solution with this finish is
/// optimal.
std::optional<Rejection> checkCertificate(const MergeProblem &problem,
                                          const Certificate &certificate, double finish);

} // namespace syncline::solver
