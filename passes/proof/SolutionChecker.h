// SolutionChecker: the judge of solutions and of the certificates of their bounds. It shares no
// code with any solver, is part of SynclineProof and runs in release builds.
//
// Tolerance: two times agree when they differ by at most replayRounding (Rounding.h) of the larger.
// Functions are pure and thread-safe.
#pragma once

#include "passes/problem/Problem.h"

#include <optional>
#include <string>

namespace syncline::proof {

using namespace problem;

/// Why a solution (1 to 18) or a certificate (31 to 40) is rejected. The numbers are stable;
/// README.md lists them.
enum class RejectionKind {
  emptyMessage = 1,         ///< a message has no layers
  layerMissing = 2,         ///< a layer is in no message and is no piggyback
  layerTwice = 3,           ///< a layer is in two messages, or in one and a piggyback
  layerUnknown = 4,         ///< a layer does not exist
  schemeNotAllowed = 5,     ///< a layer may not use its message's scheme
  wrongBytes = 6,           ///< a message's bytes are not its members' sum
  notATime = 7,             ///< a time is negative or not finite
  wrongReady = 8,           ///< a message's ready time is not its last member's
  startsBeforeReady = 9,    ///< a message starts before it is ready
  channelBusy = 10,         ///< a message starts before the one before it has ended
  wrongDuration = 11,       ///< a message does not take its scheme's time
  wrongFinish = 12,         ///< the solution's end times do not follow from its messages
  carrierNotByFactors = 13, ///< a piggyback's carrier does not send factors
  messageTooLarge = 14,     ///< a bucket is larger than its merge class allows
  capacityExceeded = 15,    ///< a merge class's gradients exceed its capacity
  outOfOrder = 16,          ///< members, messages or piggybacks do not ascend
  wrongReconstruction = 17, ///< gradients exist before the device can have reconstructed them
  bucketsInterleave = 18,   ///< a merge class has two buckets open at the same time
  notARelaxation = 31,      ///< a line is not under a cost, or a weight is not within [0, 1]
  boundNotATime = 32,       ///< the bound is negative or not finite
  boundBeaten = 35,         ///< a complete solution ends before the bound
  boundNotReached = 36,     ///< a solution called optimal ends later than the bound
  boundUndercut = 37,       ///< the solution ends earlier than the bound
  notPlain = 39,            ///< an array of finish times cannot prove more than merging alone
  tooManyStates = 40,       ///< the judge derives too many states
};

struct Rejection {
  RejectionKind kind;
  std::string message; ///< begins with the number: "J10: message 3: starts at ..."
};

/// Returns nothing when the solution is valid for the problem, else the first reason against it. A
/// message may start later than it could. Precondition: the problem is valid. Linear time.
std::optional<Rejection> checkSolution(const Problem &problem, const Solution &plan);

/// Returns nothing when the certificate proves that no solution finishes before its bound (up to
/// 1e-12 of it per layer), else the reason. It derives up to 10,000 states after a layer. Time:
/// states times choices, times the states that each step is compared with.
std::optional<Rejection> checkBound(const Problem &problem, const Certificate &certificate);

/// Returns nothing when the proof proves its bound (see boundOf), `finish` is not below it and,
/// where `optimal`, not above it either (both up to 1e-11 of the bound), else a message that begins
/// with the rejection's number. A MergeCertificate, which only a plain problem may have, goes to
/// checkMergeBound, a Certificate to checkBound.
std::optional<std::string> checkProof(const Problem &problem, const BoundProof &proof,
                                      double finish, bool optimal);

} // namespace syncline::proof
