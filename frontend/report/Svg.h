// Pieces of SVG that pictures share.
#pragma once

#include <cstdio>
#include <string>

namespace syncline::report::svg {

/// Text as XML content or as an attribute's value: '&', '<', '>' and '"' are escaped. What XML does
/// not allow, such as control characters, becomes '?'.
std::string escaped(const std::string &text);

/// printf into a string of at most 511 bytes; for numbers and the program's own words only.
std::string format(const char *pattern, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// The opening tag and a white background; sizes in pixels. The caller closes by "</svg>\n".
std::string opening(double width, double height);

/// The picture's title, at its top, in larger letters.
std::string title(double x, const std::string &words);

std::string line(double x1, double y1, double x2, double y2, const char *colour);

/// `words` at (x, y); `anchor` is "start", "middle" or "end".
std::string text(double x, double y, const char *anchor, const std::string &words,
                 const char *colour = "black");

/// A filled rectangle; `tooltip`, unless empty, is shown where the pointer rests on it.
std::string rectangle(double x, double y, double width, double height, const char *fill,
                      const std::string &tooltip = "");

} // namespace syncline::report::svg
