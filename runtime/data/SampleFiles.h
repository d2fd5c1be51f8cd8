// Which files hold a data set's samples.
#pragma once

#include "runtime/data/SampleStore.h"

namespace syncline::data {

/// Files with the same samples: one for each of a step's inputs, and one of targets where the step
/// has some.
struct SampleFiles {
  std::vector<std::string> inputs; ///< in the format's order
  std::string target;              ///< empty without targets
};

/// Reads "X,Y", for a model of one input, or "NAME=X,..,Y" with a file for each input that the step
/// reads; without targets, "X" or "NAME=X,..". Files of inputs that it does not need are left out.
/// Errors: badUsage where the text is neither; badInput, naming the input, for one that the model
/// does not have, and for one without a file or with two.
Result<SampleFiles> parseFiles(const std::string &text, const SampleFormat &format);

/// The files of a folder, sorted by NAME, byte by byte: NAME-x.npy, or where the model has several
/// inputs NAME-INPUT.npy for each, and NAME-y.npy where there are targets. Other files are ignored.
/// Errors: badInput, naming the folder or the file, for a .npy file whose partners are not all
/// there and for a folder without such files.
Result<std::vector<SampleFiles>> findShards(const std::string &folder, const SampleFormat &format);

} // namespace syncline::data
