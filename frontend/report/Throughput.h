// How many samples a plan trains with a second, and how well it scales.
#pragma once

#include <cstdint>
#include <string>

namespace syncline::report {

struct Throughput {
  std::int64_t ranks = 1;
  double samples = 0; ///< samples of one rank in a step; 0 where a trace does not say
  double step = 0;    ///< seconds
  double alone = 0;   ///< seconds of one device's step that sends nothing; 0 where unknown

  /// Samples of all ranks a second; 0 where the samples are unknown.
  double samplesPerSecond() const;
  /// samplesPerSecond over what so many devices would do if each trained alone, which is alone /
  /// step; 0 where that is unknown.
  double efficiency() const;
};

/// "2654", "31.42", "0.05120".
std::string formatRate(double perSecond);

/// "10624 samples/s on 32 ranks, scaling efficiency 67.42 % of one device alone (130.1 ms a step)";
/// what is unknown is left out, and of one rank its efficiency. Empty where nothing is known.
std::string throughputText(const Throughput &throughput);

/// What the two words mean, for a table's foot and help texts. One line without its end.
extern const char *const throughputMeaning;

} // namespace syncline::report
