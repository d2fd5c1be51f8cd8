// The switches about images, and what they say.
#include "runtime/run/options/ImageFlags.h"

#include <CLI/CLI.hpp>

namespace syncline::run {

std::string ImageFlags::sharedOptions() const {
  return (augment.empty() ? "" : " --augment " + augment) +
         (normalize.empty() ? "" : " --normalize " + normalize);
}

void addImageFlags(CLI::App &app, ImageFlags &o, CLI::Option *data, const char *group) {
  app.add_option("--augment", o.augment,
                 "Change training images at random in each epoch: 'crop' takes a part of 8 % to "
                 "100 % of the area, 'shift:N' moves by up to N pixels, with zeros from outside, "
                 "'flip' mirrors half of them left to right")
      ->type_name("CHANGE,..")
      ->needs(data)
      ->group(group);
  app.add_option("--normalize", o.normalize,
                 "Subtract the mean from all images and divide by the deviation, for each channel "
                 "or for all; pixels of image files are from 0 to 1")
      ->type_name("MEAN,..:DEVIATION,..")
      ->group(group);
  app.add_option("--data-threads", o.dataThreads,
                 "Read and decode samples ahead with N threads in each rank")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

std::string checkImageFlags(ImageFlags &o, bool readsFiles) {
  if (!o.augment.empty() && !data::parseAugment(o.augment, o.images))
    return "--augment: expected changes such as 'crop,shift:4,flip', got '" + o.augment + "'";
  if (o.normalize.empty())
    return "";
  if (!data::parseNormalize(o.normalize, o.images))
    return "--normalize: expected as many means as positive deviations, such as '0.5:0.25', got '" +
           o.normalize + "'";
  return readsFiles ? "" : "--normalize needs --data or --eval";
}

} // namespace syncline::run
