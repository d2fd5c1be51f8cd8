// Replaces GlooTransport.cpp in builds without Gloo; creating a transport is an error.
#include "runtime/transport/GlooTransport.h"

namespace syncline::transport {

Result<std::unique_ptr<Transport>> createGlooTransport(const GlooOptions &options, Store &store,
                                                       Watch *watch) {
  return Status::badInput("this build has no Gloo, which carries messages between ranks on CPUs; "
                          "configure with -DSYNCLINE_CPU=ON, which names what is missing");
}

} // namespace syncline::transport
