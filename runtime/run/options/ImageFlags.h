// The options of syncline-run about images and reading them.
#pragma once

#include "runtime/data/Preparation.h"

#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace syncline::run {

struct ImageFlags {
  std::string augment, normalize; ///< as typed; empty for none
  data::ImageOptions images;      ///< what they say, after checkImageFlags()
  int dataThreads = 1;

  /// The options that must be equal on all ranks, as text.
  std::string sharedOptions() const;
};

/// Adds the options to `group`. `data` is the option that random changes need.
void addImageFlags(CLI::App &app, ImageFlags &flags, CLI::Option *data, const char *group);

/// Reads what was typed. Returns what is wrong with it, or an empty text.
std::string checkImageFlags(ImageFlags &flags, bool readsFiles);

} // namespace syncline::run
