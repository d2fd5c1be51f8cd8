// Fitting a link's constants to measured rounds of the ring. Pure functions.
#pragma once

#include "syncline/Scheme.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::calibrate {

/// One measured message in the model seconds = α·messages + β·sent + γ·reduced.
struct Observation {
  double messages = 0; ///< number of rounds, each with one message
  double sent = 0;     ///< bytes that a rank sends in all rounds
  double reduced = 0;  ///< bytes that a rank sums
  double seconds = 0;
  double weight = 1; ///< weight of its relative error; positive
};

/// The messages, sent bytes and summed bytes of one message on `ranks` ranks. For "factors",
/// `bytes` is what one rank contributes. Nothing for schemes that do not consist of ring rounds.
std::optional<Observation> ringRounds(Scheme scheme, int ranks, double bytes, double seconds = 0);

struct LinkConstants {
  double alpha = 0; ///< seconds per message
  double beta = 0;  ///< seconds per byte sent
  double gamma = 0; ///< seconds per byte summed

  double predict(const Observation &o) const {
    return alpha * o.messages + beta * o.sent + gamma * o.reduced;
  }
};

struct LinkFit {
  LinkConstants constants;
  std::vector<double> residuals; ///< measured / fitted - 1, for each observation
  double freeBeta = 0;           ///< β without a lower limit
};

/// Least squares of the weighted relative errors with nonnegative constants. Errors are relative
/// because otherwise the longest messages alone would determine the fit and the latency would be
/// noise. Nothing without observations.
std::optional<LinkFit> fitLink(std::span<const Observation> observations);

/// Which observations send at least a sixteenth of the bytes of the longest one.
std::vector<bool> longOnes(std::span<const Observation> observations);

/// Fits β and γ by fitLink() to the long observations, because short messages pass the network as a
/// burst at a higher rate. If β would be less than `minBeta`, it is set to that and the other
/// constants are fitted again. α is fitted to the observations of which β and γ explain at most a
/// quarter, or to all if there are none.
std::optional<LinkFit> fitRounds(std::span<const Observation> observations, double minBeta = 0);

} // namespace syncline::calibrate
