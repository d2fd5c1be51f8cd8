// The option --plot, which `inspect` and `simulate` have.
#include "frontend/driver/PlotOption.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace syncline::driver {

/// File name endings of picture formats other than SVG.
static constexpr std::string_view pictures[] = {".png", ".PNG",  ".pdf", ".PDF", ".jpg",
                                                ".JPG", ".jpeg", ".gif", ".eps", ".webp"};

Status expectSvgName(const std::string &path) {
  const std::filesystem::path file(path);
  if (std::ranges::count(pictures, file.extension().string()) == 0)
    return Status::ok();
  return Status::error(ErrorKind::badUsage,
                       "--plot writes SVG, expected a name such as '" +
                           std::filesystem::path(file).replace_extension(".svg").string() +
                           "', got '" + path + "'");
}

} // namespace syncline::driver
