// The learning rate of every step.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace syncline::run {

/// The rates of a run, as PyTorch's schedulers give them when they are stepped once a training
/// step. With R for `--lr`, N for the steps behind the warm-up and t = 0 .. N-1 among them:
///
///     constant                 R                              ConstantLR(factor 1)
///     step:EVERY,FACTOR        R·FACTOR^⌊t/EVERY⌋             StepLR
///     cosine[:MIN]             MIN + (R-MIN)·(1+cos(π·t/N))/2 CosineAnnealingLR(T_max N)
///     linear[:END]             R + (END-R)·t/N                LinearLR(total_iters N)
///     one-cycle[:UP[,DIV[,FINAL]]]                            OneCycleLR(max_lr R, total_steps N)
///     FILE.csv                 the rate of the last line whose step is not above t
///
/// MIN and END are rates, 0 by default. One cycle rises from R/DIV to R in the part UP of the steps
/// and falls to R/DIV/FINAL, each along a cosine (0.3, 25, 10000 by default). The momentum stays.
/// A warm-up of W steps comes first and gives step t the rate R·(t+1)/W: a SequentialLR of
/// LinearLR(1/W, total_iters W-1) and the schedule.
class Schedule {
public:
  enum class Kind { constant, step, cosine, linear, oneCycle, file };

  Schedule() = default; ///< constant
  /// Parses `--schedule`; load() reads the file of one that has a file. Errors: badUsage.
  static Result<Schedule> parse(const std::string &text);
  /// Reads a schedule's file, whose lines are "step,rate" in ascending order from step 0. Errors:
  /// badInput, naming file and line.
  Status load();
  /// Begins with a warm-up of so many steps, at least 0. Errors: badUsage for a schedule that
  /// states its first rates itself.
  Status warmUp(std::int64_t steps);
  /// Ok when a run of `steps` steps has room for the warm-up; otherwise badUsage.
  Status check(std::int64_t steps) const;

  /// Whether rates differ or are read from a file, so that a log should have them.
  bool isGiven() const { return kind != Kind::constant || warm > 0; }
  /// The schedule in a form that differs between files with different rates.
  std::string text() const;
  /// The rate of step `step` of a run of `steps` steps whose `--lr` is `rate`. Precondition:
  /// 0 <= step < steps, check(steps), and load() has succeeded.
  double rateAt(std::int64_t step, std::int64_t steps, double rate) const;

private:
  double oneCycleAt(double step, double steps, double rate) const;

  std::string given = "constant"; ///< as on the command line
  Kind kind = Kind::constant;
  std::vector<double> numbers;          ///< as many as the kind has, in the order above
  std::map<std::int64_t, double> rates; ///< of a file, by their first step
  std::int64_t warm = 0;
};

} // namespace syncline::run
