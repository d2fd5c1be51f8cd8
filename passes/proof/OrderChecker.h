// OrderChecker: the judge of order solutions and of the bound on their period. It shares with
// planners the problem and no other code, runs in release builds and is part of SynclineProof.
//
// Tolerance: two times agree when they differ by at most replayRounding (Rounding.h) of the larger.
// Functions are pure and thread-safe.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <optional>
#include <string>

namespace syncline::proof {

using namespace problem;

/// Why an order solution or its certificate is rejected. The numbers are stable and stand in
/// README.md too.
enum class OrderRejectionKind {
  wayNotAllowed = 1, ///< a layer travels by a way that the problem does not offer
  carrierNotFactors, ///< a piggyback's carrier does not travel by factors
  messageNotThere,   ///< a message's merge class, layer, option or bytes do not exist
  messageTooLarge,   ///< a message is larger than its merge class allows
  classTooLarge,     ///< a merge class holds more than its capacity
  cutOffGrain, ///< a message ends inside a gradient, not at a multiple of the grain, or at all
  sentTwice,   ///< bytes or factors travel twice
  notSent,     ///< bytes or factors do not travel
  startsBeforeReady, ///< a message starts before its gradients exist
  channelBusy,       ///< a message starts before the one before it has ended
  wrongDuration,     ///< a message does not take its scheme's time
  wrongPeriod,       ///< the period does not follow from the messages
  wrongList,         ///< a message does not list the gradients that its bytes belong to
  wrongHalf,         ///< a half has no other half, or a scheme without halves
  notALine = 20,     ///< a line of the certificate is not under a cost, or a number is no time
  boundNotProved,    ///< the certificate does not prove its bound
  periodBelowBound,  ///< the period is shorter than the bound
  wrongCases,        ///< its cases are not all the ways of a layer, or too many
};

struct OrderRejection {
  OrderRejectionKind kind;
  std::string message; ///< "O9: message 3: ...", messages and layers counted from 1
};

/// Returns nothing when the solution is valid: every gradient travels once, by a way that it may
/// use, when it exists, one message at a time, and the period is what follows. Otherwise the first
/// reason. O(n log n). Precondition: the problem is valid.
std::optional<OrderRejection> checkOrder(const OrderProblem &problem,
                                         const OrderSolution &solution);

/// As checkOrder, for an order in the form in which plans hold it (messagesOf()). Each message
/// must list exactly the gradients whose bytes it carries.
std::optional<OrderRejection> checkMessages(const OrderProblem &problem, const Solution &plan);

/// Returns nothing when no solution has a shorter period than the certificate's bound, and `period`
/// is no shorter. O(n log n) a case, and one look at each cost's pieces. Precondition: the problem
/// is valid.
std::optional<OrderRejection> checkOrderBound(const OrderProblem &problem,
                                              const OrderCertificate &certificate, double period);

} // namespace syncline::proof
