// Pieces of SVG that pictures share.
#include "frontend/report/Svg.h"

#include <string_view>

namespace syncline::report::svg {

namespace {

/// U+FFFE and U+FFFF are UTF-8, but no characters of XML.
bool isNoCharacter(std::string_view rest) {
  return rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf");
}

std::string escapedByte(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  default:
    return {static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c};
  }
}

} // namespace

std::string escaped(const std::string &text) {
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const bool replaced = isNoCharacter(rest);
    result += replaced ? "?" : escapedByte(rest.front());
    rest.remove_prefix(replaced ? 3 : 1);
  }
  return result;
}

std::string opening(double width, double height) {
  return format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                width, height);
}

std::string title(double x, const std::string &words) {
  return format("<text x=\"%g\" y=\"24\" font-size=\"14\">", x) + escaped(words) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char *colour) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1,
                x2, y2, colour);
}

std::string text(double x, double y, const char *anchor, const std::string &words,
                 const char *colour) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor,
                colour) +
         escaped(words) + "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, const char *fill,
                      const std::string &tooltip) {
  const std::string open =
      format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"", x, y, width,
             height, fill);
  return open + (tooltip.empty() ? "/>\n" : "><title>" + escaped(tooltip) + "</title></rect>\n");
}

} // namespace syncline::report::svg
