// A .npy file as an array in memory.
#pragma once

#include "runtime/core/StepTypes.h"
#include "runtime/data/Npy.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::data {

/// Reads a whole file into memory. Errors: those of NpyFile.
inline Result<Array> openNpy(const std::string &path) {
  Result<NpyFile> npy = NpyFile::open(path);
  if (!npy)
    return npy.status();
  Array array;
  array.path = path;
  array.type = npy->type();
  array.shape = npy->shape();
  auto values = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(array.count() * core::elementBytes(array.type)));
  if (Status s = npy->read(0, array.count(), values->data()); !s)
    return s;
  array.data = values->data();
  array.owner = values;
  return array;
}

} // namespace syncline::data
