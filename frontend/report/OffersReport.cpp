// Compares offers by time and money.
#include "frontend/report/OffersReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace syncline::report {

namespace {

using Figure = std::function<double(const PlannedOffer &)>;

/// Whole numbers have no exponent; smaller ones three digits.
std::string number(double value) {
  return value >= 1000 ? std::to_string(std::llround(value)) : files::formatNumber(value, 3);
}

/// Time and money grow alike with the step.
std::pair<double, double> rangeOf(const PlannedOffer &offer, double value) {
  const double doubt = offer.doubt ? offer.doubt->share : 0;
  return {value * std::max(0.0, 1 - doubt), value * (1 + doubt)};
}

/// "12.5 (8.75 .. 16.3)".
std::string withRange(const PlannedOffer &offer, double value) {
  if (!offer.doubt)
    return number(value);
  const auto [least, most] = rangeOf(offer, value);
  return number(value) + " (" + number(least) + " .. " + number(most) + ")";
}

/// "+3.21 %"; no sign where it rounds to nothing.
std::string longer(double share) {
  constexpr double least = 0.5e-4;
  return std::fabs(share) < least ? percent(0) : (share > 0 ? "+" : "") + percent(share);
}

std::string memoryOf(const PlannedOffer &offer) {
  return (offer.hasActivations ? "" : "> ") + files::formatBytes(offer.memory) +
         (offer.size ? " of " + files::formatBytes(*offer.size) : "");
}

/// "cheapest: a, but the ranges of b, c overlap its own".
std::string bestText(const std::vector<PlannedOffer> &offers, const std::string &what,
                     const Figure &figure) {
  const PlannedOffer &best = *std::ranges::min_element(offers, {}, figure);
  const double most = rangeOf(best, figure(best)).second;
  std::string near;
  for (const PlannedOffer &offer : offers)
    if (&offer != &best && rangeOf(offer, figure(offer)).first <= most)
      near += (near.empty() ? "" : ", ") + printable(offer.name);
  return what + ": " + printable(best.name) +
         (near.empty() ? "" : "; within the doubt it may also be " + near) + "\n";
}

std::string doubtText(const std::vector<PlannedOffer> &offers) {
  std::string text;
  for (const PlannedOffer &offer : offers) {
    std::string line = printable(offer.name) + ": ";
    if (!offer.doubt)
      line +=
          "no range, since too few published runs judge its times; 'doubt' in the file states one";
    else {
      line += "a step within " + files::formatNumber(100 * offer.doubt->share, 3) + " %, ";
      line += offer.doubt->runs == 0
                  ? "as the file states"
                  : "as nine of ten of " + files::counted(offer.doubt->runs, "published run") +
                        " on " + printable(offer.device) + " were";
    }
    text += "  " + line + "\n";
  }
  return "ranges:\n" + text;
}

} // namespace

double PlannedOffer::hours(std::int64_t samples) const {
  return static_cast<double>(samples) / rate.samplesPerSecond() / 3600;
}

std::string offersTable(std::vector<PlannedOffer> offers, const std::vector<LeftOutOffer> &leftOut,
                        std::int64_t samples) {
  const Figure money = [&](const PlannedOffer &offer) { return offer.money(samples); };
  const Figure hours = [&](const PlannedOffer &offer) { return offer.hours(samples); };
  std::ranges::stable_sort(offers, {}, money);
  Table table({{"offer"},
               {"ranks", Align::right},
               {"in"},
               {"step", Align::right},
               {"samples/s", Align::right},
               {"efficiency", Align::right},
               {"memory of a rank", Align::right},
               {"hours", Align::right},
               {"money", Align::right},
               {"DDP's buckets", Align::right}});
  for (const PlannedOffer &offer : offers) {
    const double efficiency = offer.rate.efficiency();
    table.addRow({printable(offer.name), std::to_string(offer.rate.ranks), offer.precision,
                  files::formatSeconds(offer.rate.step), formatRate(offer.rate.samplesPerSecond()),
                  efficiency > 0 ? percent(efficiency) : "-", memoryOf(offer),
                  withRange(offer, hours(offer)), withRange(offer, money(offer)),
                  offer.ddpStep ? longer(*offer.ddpStep / offer.rate.step - 1) : "-"});
  }
  std::string text = table.toString();
  for (const LeftOutOffer &offer : leftOut)
    text += "left out: " + printable(offer.name) + ": " + offer.reason + "\n";
  text += "hours, money: of " + std::to_string(samples) +
          " samples, by the file's prices; DDP's buckets: how much longer the step is with 25 MiB, "
          "DDP's default" +
          (std::ranges::all_of(offers, &PlannedOffer::hasDdp)
               ? "\n"
               : "; -: one rank, or gradients that DDP cannot send\n") +
          std::string(throughputMeaning) + "\n\n";
  return text + bestText(offers, "cheapest", money) + bestText(offers, "fastest", hours) +
         doubtText(offers);
}

} // namespace syncline::report
