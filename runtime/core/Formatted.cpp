// Measuring a text, then writing it.
#include "runtime/core/Formatted.h"

#include <cstdio>

namespace syncline::core {

std::string formattedBy(const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, values)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string formatted(const char *format, ...) {
  va_list values;
  va_start(values, format);
  std::string text = formattedBy(format, values);
  va_end(values);
  return text;
}

} // namespace syncline::core
