// Calls of cuDNN's graph interface.
#include "runtime/cuda/dnn/BackendDescriptor.h"

#include <algorithm>

namespace syncline::cuda {

void checkGraph(cudnnStatus_t status, const char *call) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw GraphFailure{status, call};
}

BackendDescriptor::Owned::~Owned() {
  if (handle)
    cudnnBackendDestroyDescriptor(handle);
}

BackendDescriptor::BackendDescriptor(cudnnBackendDescriptorType_t type)
    : own(std::make_shared<Owned>()) {
  checkGraph(cudnnBackendCreateDescriptor(type, &own->handle), "cudnnBackendCreateDescriptor");
}

void BackendDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            std::size_t count, const void *values) const {
  checkGraph(
      cudnnBackendSetAttribute(own->handle, name, type, static_cast<std::int64_t>(count), values),
      "cudnnBackendSetAttribute");
}

void BackendDescriptor::set(cudnnBackendAttributeName_t name,
                            const std::vector<BackendDescriptor> &parts) const {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const BackendDescriptor &part : parts)
    handles.push_back(part.own->handle);
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles.size(), handles.data());
  own->kept.insert(own->kept.end(), parts.begin(), parts.end());
}

void BackendDescriptor::finalize() const {
  checkGraph(cudnnBackendFinalize(own->handle), "cudnnBackendFinalize");
}

std::size_t BackendDescriptor::get(cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, std::size_t most,
                                   void *values) const {
  std::int64_t count = 0;
  checkGraph(cudnnBackendGetAttribute(own->handle, name, type, static_cast<std::int64_t>(most),
                                      &count, values),
             "cudnnBackendGetAttribute");
  // cuDNN counts all values that there are, also where it writes fewer.
  return std::min(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), most);
}

std::vector<BackendDescriptor> BackendDescriptor::parts(cudnnBackendAttributeName_t name,
                                                        cudnnBackendDescriptorType_t type,
                                                        std::size_t most) const {
  std::vector<BackendDescriptor> made; // cuDNN fills descriptors that exist
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::size_t i = 0; i < most; ++i) {
    made.emplace_back(type);
    made.back().own->kept.push_back(*this);
    handles.push_back(made.back().own->handle);
  }
  const std::size_t written = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, handles.data());
  made.erase(made.begin() + static_cast<std::ptrdiff_t>(written), made.end());
  return made;
}

std::vector<BackendDescriptor> BackendDescriptor::parts(cudnnBackendAttributeName_t name,
                                                        cudnnBackendDescriptorType_t type) const {
  std::int64_t count = 0;
  checkGraph(cudnnBackendGetAttribute(own->handle, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                                      nullptr),
             "cudnnBackendGetAttribute");
  return parts(name, type, static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
}

} // namespace syncline::cuda
