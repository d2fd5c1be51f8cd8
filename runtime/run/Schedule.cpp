// Parsing schedules, and their formulas.
#include "runtime/run/Schedule.h"

#include "runtime/core/Random.h"
#include "runtime/data/Csv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

namespace syncline::run {
namespace {

using ScheduleKind = Schedule::Kind;

constexpr const char *scheduleKinds =
    "expected constant, step:EVERY,FACTOR, cosine[:MIN], linear[:END], "
    "one-cycle[:UP[,DIV[,FINAL]]] or FILE.csv";

/// A schedule's numbers: how many must be given, and those that may be left out.
struct Grammar {
  std::string_view name;
  ScheduleKind kind;
  std::size_t needed;
  std::vector<double> otherwise; ///< of all numbers
};

const std::array<Grammar, 5> &grammars() {
  static const std::array<Grammar, 5> all{
      {{"constant", ScheduleKind::constant, 0, {}},
       {"step", ScheduleKind::step, 2, {0, 0}},
       {"cosine", ScheduleKind::cosine, 0, {0}},
       {"linear", ScheduleKind::linear, 0, {0}},
       {"one-cycle", ScheduleKind::oneCycle, 0, {0.3, 25, 1e4}}}};
  return all;
}

Status badSchedule(const std::string &text, const std::string &what) {
  return Status::error(ErrorKind::badUsage, "--schedule: " + what + ", got '" + text + "'");
}

/// The numbers between commas, or nothing where one is not a finite number of at least 0.
std::optional<std::vector<double>> numbersIn(std::string_view list) {
  std::vector<double> numbers;
  for (;;) {
    const std::string_view item = list.substr(0, list.find(','));
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc() || end != item.data() + item.size() || !(value >= 0) || value > 1e30)
      return std::nullopt;
    numbers.push_back(value);
    if (item.size() == list.size())
      return numbers;
    list.remove_prefix(item.size() + 1);
  }
}

/// What is wrong with a kind's numbers; empty for nothing.
std::string whyRefused(ScheduleKind kind, const std::vector<double> &numbers) {
  if (kind == ScheduleKind::step && (numbers[0] < 1 || numbers[0] != std::floor(numbers[0])))
    return "expected a whole number of steps of at least 1 for EVERY";
  if (kind == ScheduleKind::oneCycle && numbers[0] > 1)
    return "expected UP from 0 to 1";
  if (kind == ScheduleKind::oneCycle && (numbers[1] == 0 || numbers[2] == 0))
    return "expected DIV and FINAL above 0";
  return "";
}

/// From `start` to `end` along half a cosine, as `part` goes from 0 to 1. Half of 1 + cos x is
/// cos² x/2, which loses no digits near the end.
double alongCosine(double start, double end, double part) {
  const double half = std::cos(std::numbers::pi / 2 * part);
  return end + (start - end) * half * half;
}

} // namespace

Result<Schedule> Schedule::parse(const std::string &text) {
  Schedule made;
  made.given = text;
  if (text.ends_with(".csv")) {
    made.kind = Kind::file;
    return made;
  }
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  const auto grammar = std::ranges::find(grammars(), name, &Grammar::name);
  if (grammar == grammars().end())
    return badSchedule(text, scheduleKinds);
  made.kind = grammar->kind;
  made.numbers = grammar->otherwise;
  std::vector<double> stated;
  if (colon != std::string::npos) {
    const auto found = numbersIn(std::string_view(text).substr(colon + 1));
    if (!found)
      return badSchedule(text, "expected numbers from 0 to 1e30");
    stated = *found;
  }
  if (stated.size() < grammar->needed || stated.size() > grammar->otherwise.size())
    return badSchedule(text, scheduleKinds);
  std::ranges::copy(stated, made.numbers.begin());
  if (const std::string why = whyRefused(made.kind, made.numbers); !why.empty())
    return badSchedule(text, why);
  return made;
}

Status Schedule::load() {
  if (kind != Kind::file)
    return Status::ok();
  SYNCLINE_TRY_GET(table, data::readCsv(given));
  const auto bad = [&](std::int64_t line, const std::string &what) {
    return Status::badInput("'" + given + "': row " + std::to_string(line + 1) + ": " + what);
  };
  if (table->shape[1] != 2)
    return bad(0,
               "expected a step and a rate, got " + std::to_string(table->shape[1]) + " columns");
  for (std::int64_t line = 0; line < table->shape[0]; ++line) {
    const double step = table->at(2 * line), rate = table->at(2 * line + 1);
    if (step != std::floor(step) || step < 0 || step > 1e15)
      return bad(line, "expected the number of a step, counted from 0");
    if (rate < 0 || rate > 1e30)
      return bad(line, "expected a rate from 0 to 1e30");
    const auto number = static_cast<std::int64_t>(step);
    if (rates.empty() && number != 0)
      return bad(line, "expected the rate of step 0 first, got step " + std::to_string(number));
    if (!rates.empty() && number <= rates.rbegin()->first)
      return bad(line, "expected a step above " + std::to_string(rates.rbegin()->first) + ", got " +
                           std::to_string(number));
    rates[number] = rate;
  }
  return Status::ok();
}

Status Schedule::warmUp(std::int64_t steps) {
  if (steps > 0 && (kind == Kind::oneCycle || kind == Kind::file))
    return Status::error(ErrorKind::badUsage, "--warmup: '--schedule " + given +
                                                  "' states its first rates itself, expected no "
                                                  "warm-up");
  warm = steps;
  return Status::ok();
}

Status Schedule::check(std::int64_t steps) const {
  if (warm <= steps)
    return Status::ok();
  return Status::error(ErrorKind::badUsage, "--warmup " + std::to_string(warm) + ": the run has " +
                                                std::to_string(steps) + " steps");
}

std::string Schedule::text() const {
  std::string all = given;
  if (kind == Kind::file) { // its path may differ between hosts
    std::uint64_t hash = core::stableHash("rates");
    for (const auto &[step, rate] : rates)
      hash = core::stableHash(std::to_string(step) + "," +
                                  std::to_string(std::bit_cast<std::uint64_t>(rate)) + ";",
                              hash);
    all = "file " + std::to_string(hash);
  }
  return all + (warm > 0 ? " --warmup " + std::to_string(warm) : "");
}

/// Steps UP·N - 1 and N - 1 have the peak and the last rate. The former may lie between two steps.
double Schedule::oneCycleAt(double step, double steps, double rate) const {
  const double top = numbers[0] * steps - 1, last = steps - 1;
  const double first = rate / numbers[1];
  if (step <= top || last <= top)
    return top == 0 ? rate : alongCosine(first, rate, step / top);
  return alongCosine(rate, first / numbers[2], (step - top) / (last - top));
}

double Schedule::rateAt(std::int64_t step, std::int64_t steps, double rate) const {
  if (step < warm)
    return rate * static_cast<double>(step + 1) / static_cast<double>(warm);
  const auto at = static_cast<double>(step - warm), all = static_cast<double>(steps - warm);
  switch (kind) {
  case Kind::constant:
    return rate;
  case Kind::step:
    return rate * std::pow(numbers[1], std::floor(at / numbers[0]));
  case Kind::cosine:
    return alongCosine(rate, numbers[0], at / all);
  case Kind::linear:
    return rate + (numbers[0] - rate) * (at / all);
  case Kind::oneCycle:
    return oneCycleAt(at, all, rate);
  case Kind::file:
    return std::prev(rates.upper_bound(step))->second;
  }
  return rate;
}

} // namespace syncline::run
