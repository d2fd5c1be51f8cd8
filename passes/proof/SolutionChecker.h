// SolutionChecker: the judge of solutions and of the certificates of their bounds. Shares no code
// with any solver (it stands in SynclineMergeCheck) and runs in release builds.
//
// Tolerance: two times agree when they differ by at most replayRounding (Rounding.h) of the larger.
// Thread-safe.
#pragma once

#include "passes/problem/Problem.h"

#include <optional>
#include <string>

namespace syncline::proof {

using namespace problem;

/// Why a plan (1..) or a certificate (30..) is rejected. The numbers are stable; README.md lists
/// them.
enum class RejectionKind {
  emptyMessage = 1,         ///< a message has no layers
  layerMissing = 2,         ///< a layer is in no message and does not ride
  layerTwice = 3,           ///< a layer is in two messages, or rides and is in one
  layerUnknown = 4,         ///< a layer does not exist
  schemeNotAllowed = 5,     ///< a layer may not travel that way
  wrongBytes = 6,           ///< a message's bytes are not its members' sum
  notATime = 7,             ///< a time is negative or not finite
  wrongReady = 8,           ///< a message's ready time is not its last member's
  startsBeforeReady = 9,    ///< a message starts before it is ready
  channelBusy = 10,         ///< a message starts before the one before it has ended
  wrongDuration = 11,       ///< a message does not take its scheme's time
  wrongFinish = 12,         ///< the plan's end times do not follow from its messages
  carrierNotByFactors = 13, ///< a layer rides, but its carrier does not travel alone
  messageTooLarge = 14,     ///< a bucket is larger than its merge class allows
  capacityExceeded = 15,    ///< a merge class's gradients are more than it can hold
  outOfOrder = 16,          ///< members, messages or piggybacks do not ascend
  wrongReconstruction = 17, ///< gradients exist before the device can have reconstructed them
  bucketsInterleave = 18,   ///< a merge class has two buckets open at the same time
  statesCount = 30,         ///< some lists of states, but not one more than layers
  notARelaxation = 31,      ///< a line is not under a cost, or a weight not within [0, 1]
  boundNotATime = 32,       ///< the bound is negative or not finite
  startNotCovered = 33,     ///< the state before the first layer is not covered
  stepNotCovered = 34,      ///< a state that follows from a listed one is not covered
  boundBeaten = 35,     ///< a complete plan that follows from a listed state ends before the bound
  boundNotReached = 36, ///< the plan is called optimal, but ends later than the bound
  boundUndercut = 37,   ///< the plan ends earlier than the bound
  notAState = 38,       ///< a listed state has no finite times, or negative bytes
  notPlain = 39,        ///< an array of finish times cannot prove a problem with more choice
  tooManyStates = 40,   ///< none are listed, and too many are neither late nor worse than another
};

struct Rejection {
  RejectionKind kind;
  std::string message; ///< opens with the number: "J10: message 3: starts at ..."
};

/// Nothing when the plan is a valid one for the problem. Starting later than necessary is valid.
/// Precondition: the problem is valid. Linear time.
std::optional<Rejection> checkSolution(const Problem &problem, const Solution &plan);

/// Nothing when the certificate proves that no plan finishes before its bound (up to 1e-12 of it
/// per layer). Where it lists no states the judge derives them, with up to 10,000 after a layer.
/// Time: states times choices, times states that a step is compared with.
std::optional<Rejection> checkBound(const Problem &problem, const Certificate &certificate);

/// checkBound, and that the plan's finish is not below the bound; where `optimal`, also that
/// it is the bound (up to 1e-11 of it).
std::optional<Rejection> checkCertificate(const Problem &problem, const Certificate &certificate,
                                          double finish, bool optimal);

/// Nothing when the proof proves its bound (see boundOf): by checkMergeBound where it is an array,
/// which only a plain problem's can be, else by checkBound. Otherwise what is wrong, opening with
/// its number.
std::optional<std::string> checkProof(const Problem &problem, const BoundProof &proof);

/// checkProof, and that a plan with this finish agrees with it: not earlier than the bound; where
/// `optimal`, not later either (both up to 1e-11 of it).
std::optional<std::string> checkProof(const Problem &problem, const BoundProof &proof,
                                      double finish, bool optimal);

} // namespace syncline::proof
