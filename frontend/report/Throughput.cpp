// Computes samples a second and the share of perfect scaling.
#include "frontend/report/Throughput.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"

#include <cstdio>

namespace syncline::report {

const char *const throughputMeaning = "samples/s: of all ranks; efficiency: samples/s / (ranks x "
                                      "samples/s of one device alone, which "
                                      "sends nothing)";

double Throughput::samplesPerSecond() const {
  return step > 0 ? samples * static_cast<double>(ranks) / step : 0;
}

double Throughput::efficiency() const { return step > 0 ? alone / step : 0; }

std::string formatRate(double perSecond) {
  char text[32];
  std::snprintf(text, sizeof text, perSecond >= 1000 ? "%.0f" : "%#.4g", perSecond);
  return text;
}

std::string throughputText(const Throughput &throughput) {
  std::string text;
  if (throughput.samplesPerSecond() > 0)
    text = formatRate(throughput.samplesPerSecond()) + " samples/s on " +
           files::counted(throughput.ranks, "rank");
  if (throughput.ranks == 1 || throughput.efficiency() <= 0)
    return text;
  return text + (text.empty() ? "" : ", ") + "scaling efficiency " +
         percent(throughput.efficiency()) + " of one device alone (" +
         files::formatSeconds(throughput.alone, 4) + " a step)";
}

} // namespace syncline::report
