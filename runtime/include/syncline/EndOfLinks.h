// Where the links of an output's path end.
#pragma once

#include "syncline/Status.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace syncline {

/// The path with the links of its last component followed, whether or not something is there.
/// Errors: badInput where the links form a circle, and for a link of another user who does not own
/// its folder either: whoever may write to a shared folder could lead an output anywhere.
inline Result<std::string> endOfLinks(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr int maxLinks = 40; // as the kernel follows
  const auto cannot = [&](const std::string &why) {
    return Status::badInput("'" + path + "': cannot write: " + why);
  };
  fs::path end = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(end, error); ++links) {
    fs::path next = fs::read_symlink(end, error);
    if (error || links == maxLinks)
      return cannot(std::strerror(ELOOP));
    const fs::path folder = end.has_parent_path() ? end.parent_path() : fs::path(".");
    struct stat link{}, place{};
    if (lstat(end.c_str(), &link) == 0 && link.st_uid != geteuid() && link.st_uid != 0 &&
        (stat(folder.c_str(), &place) != 0 || place.st_uid != link.st_uid))
      return cannot("it leads through a link of another user");
    if (!next.has_filename()) // "folder/"
      next = next.parent_path();
    end = end.parent_path() / next; // an absolute `next` replaces what stands before it
  }
  return end.string();
}

} // namespace syncline
