// Checked reading of scalars.
#include "frontend/files/YamlQuantity.h"

#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "syncline/Suggestion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

namespace syncline::files {

Status readRequired(const YamlMap &map, std::string_view key, std::string_view wanted,
                    QuantityParser<double> parse, double &target) {
  Result<YamlValue> value = map.require(key);
  return value ? readOptional(map, key, wanted, parse, target) : value.status();
}

Status readSize(const YamlMap &map, std::string_view key, std::optional<std::int64_t> &target) {
  const std::optional<YamlValue> value = map.find(key);
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(bytes, quantity(*value, "a size", parseBytes));
  if (*bytes == 0)
    return value->error("expected a size of at least one byte, got '0B'");
  target = *bytes;
  return Status::ok();
}

Result<std::string> readText(const YamlMap &map, std::string_view key, std::string_view wanted) {
  SYNCLINE_TRY_GET(value, map.require(key));
  SYNCLINE_TRY_GET(text, value->scalar(wanted));
  if (text->empty())
    return value->error("expected " + std::string(wanted) + ", got nothing");
  return text;
}

Result<std::int64_t> readCount(const YamlValue &value, std::string_view what, std::int64_t limit) {
  SYNCLINE_TRY_GET(text, value.scalar("a whole number of " + std::string(what)));
  Result<std::int64_t> count = parseCount(*text, what, limit);
  return count ? count : value.error(count.status().message());
}

Result<std::int64_t> readIndex(const YamlValue &value, std::string_view what, std::int64_t count) {
  const std::string wanted = std::string(what) + " from 0 to " + std::to_string(count - 1);
  SYNCLINE_TRY_GET(text, value.scalar(wanted));
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), index);
  if (error != std::errc() || end != text->data() + text->size() || index < 0 || index >= count)
    return value.error("expected " + wanted + ", got '" + text->substr(0, 60) + "'");
  return index;
}

/// A plain number that `isAllowed`, which is never asked about what is not finite.
static Result<double> readNumber(const YamlValue &value, const std::string &wanted,
                                 const std::function<bool(double)> &isAllowed) {
  SYNCLINE_TRY_GET(text, value.scalar(wanted));
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(number) ||
      !isAllowed(number))
    return value.error("expected " + wanted + ", got '" + text->substr(0, 60) + "'");
  return number;
}

Result<double> readFactor(const YamlValue &value) {
  SYNCLINE_TRY_GET(text, value.scalar("a number such as 1.5"));
  Result<double> factor = parseFactor(*text);
  return factor ? factor : value.error(factor.status().message());
}

Result<double> readMultiple(const YamlValue &value, double limit, const std::string &orElse) {
  return readNumber(
      value, "a number from 1 to " + std::to_string(std::llround(limit)) + " such as 1.5" + orElse,
      [&](double times) { return times >= 1 && times <= limit; });
}

Result<double> readShare(const YamlValue &value) {
  return readNumber(value, "a number above 0 and at most 1 such as 0.7",
                    [](double share) { return share > 0 && share <= 1; });
}

Result<std::size_t> readChoice(const YamlValue &value, std::string_view what,
                               std::span<const std::string_view> words) {
  SYNCLINE_TRY_GET(text, value.scalar("one of " + quotedList(words)));
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found == words.end())
    return value.error("unknown " + std::string(what) + " '" + text->substr(0, 60) + "'" +
                       suggestion(*text, words));
  return static_cast<std::size_t>(found - words.begin());
}

Result<bool> readYesNo(const YamlValue &value) {
  constexpr std::string_view wanted = "'yes' or 'no'";
  SYNCLINE_TRY_GET(text, value.scalar(wanted));
  if (*text == "yes" || *text == "true")
    return true;
  if (*text == "no" || *text == "false")
    return false;
  return value.error("expected " + std::string(wanted) + ", got '" + text->substr(0, 60) + "'");
}

} // namespace syncline::files
