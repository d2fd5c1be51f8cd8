// A link's constants from measured rounds of the ring. Pure functions.
#pragma once

#include "syncline/Scheme.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::calibrate {

/// One measured message and what it had to do: seconds = α·messages + β·sent + γ·reduced.
struct Observation {
  double messages = 0; ///< rounds, one message each
  double sent = 0;     ///< bytes a rank sends, over all rounds
  double reduced = 0;  ///< bytes a rank sums
  double seconds = 0;
  double weight = 1; ///< of its relative error; above zero
};

/// What a message of `bytes` by "ring", "reduce-scatter" or "factors" (bytes that one rank
/// contributes) has to do on `ranks` ranks; nothing for another scheme, which is not made of the
/// ring's rounds.
std::optional<Observation> ringRounds(Scheme scheme, int ranks, double bytes, double seconds = 0);

struct LinkConstants {
  double alpha = 0; ///< seconds a message
  double beta = 0;  ///< seconds a byte sent
  double gamma = 0; ///< seconds a byte reduced

  double predict(const Observation &o) const {
    return alpha * o.messages + beta * o.sent + gamma * o.reduced;
  }
};

struct LinkFit {
  LinkConstants constants;
  std::vector<double> residuals; ///< measured / fitted - 1, one an observation
  double freeBeta = 0;           ///< β without a lower limit
};

/// Least squares of the weighted relative errors, no constant negative: without the relative
/// weights the longest messages alone would decide and latency would be noise. Nothing for no
/// observations.
std::optional<LinkFit> fitLink(std::span<const Observation> observations);

/// Those that send at least a sixteenth of what the longest one sends.
std::vector<bool> longOnes(std::span<const Observation> observations);

/// β and γ by fitLink() of the long ones: what short ones send passes as a burst, which no later
/// byte does. β is `minBeta` at least, the others then fitted beside it. α by those to which β
/// and γ leave three quarters of their time, all of them for want of such.
std::optional<LinkFit> fitRounds(std::span<const Observation> observations, double minBeta = 0);

} // namespace syncline::calibrate
