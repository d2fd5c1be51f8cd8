// Checks of numbers on command lines.
#include "runtime/launch/CliChecks.h"

#include <charconv>

namespace syncline::launch {

CLI::Validator wholeNumber(std::int64_t min, const std::string &unit, std::int64_t max) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        std::int64_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= min &&
            value <= max)
          return {};
        return "expected a whole number of " + unit + ", at least " + std::to_string(min) +
               (max < maxWhole ? " and at most " + std::to_string(max) : "") + ", got '" + text +
               "'";
      },
      "");
}

CLI::Validator realNumber(double min, double max, const std::string &wanted) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        double value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= min &&
            value <= max)
          return {};
        return "expected " + wanted + ", got '" + text + "'";
      },
      "");
}

CLI::Validator someText() {
  return CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("expected a name, got nothing") : "";
      },
      "");
}

void addDecided(CLI::App &app, const std::vector<std::string> &names, const std::string &then) {
  for (const std::string &name : names)
    app.add_option_function<std::string>(
           name,
           [name, then](const std::string &) {
             throw CLI::ValidationError("the plan decides on '" + name +
                                        "': expected 'syncline compile " + name + "'" + then);
           })
        ->expected(0, 1) // CLI11 does not name hidden options where a value is missing
        ->group("");
}

} // namespace syncline::launch
