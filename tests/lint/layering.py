"""Which folder may include what: the table of the architecture, as data.

A rule is (folder, what its includes must not match, why). It holds for what a file includes and for
what our headers among that include. "folder/*" means the files directly in the folder. An include
is written as in the source, without its brackets or quotes. Files named in JOINTS are exempt.
"""

COMPILER = r"(mlir|llvm|llvm-c|mlir-c)/"
ONNX = r"(onnx/|google/protobuf/)"
SOLVER = r"z3"
OURS = r"(frontend|ir|passes|codegen)/"



def others(*folders):
    """The dialects, and every folder of passes but these."""
    return rf"(ir/|passes/(?!({'|'.join(folders)})/))"


def beside(*folders):
    """Every folder of the runtime but these and the public headers."""
    return rf"runtime/(?!({'|'.join(folders)}|include)/)"


RULES = [
    ("runtime", COMPILER, "the runtime runs where no compiler is installed"),
    ("runtime", ONNX, "models are the frontend's"),
    ("runtime", SOLVER, "plans are made before they run"),
    ("runtime", OURS, "the runtime stands below the compiler"),
    ("runtime", r"yaml-cpp/", "cluster files are the frontend's"),
    ("runtime/include", r"(oneapi|nlohmann)/|dnnl|cuda", "public headers name no backend"),
    ("runtime/include", r"runtime/", "public headers include public headers only"),
    ("runtime/core", beside("core"), "the ground on which all of the runtime stands"),
    ("runtime/data", beside("data", "core"), "samples know no ranks and no backend"),
    ("runtime/cpu", beside("cpu", "core"), "a backend knows its device only"),
    ("runtime/cuda", beside("cuda", "core"), "a backend knows its device only"),
    ("runtime/cuda/kernels", r"runtime/cuda/(?!kernels/)", "kernels know no library"),
    ("runtime/cuda/tuner", r"runtime/cuda/(?!tuner/)", "NCCL loads it without the backend"),
    ("runtime/transport", beside("transport", "core"), "links know no plan and no backend"),
    ("runtime/servers", beside("servers", "transport", "core"), "servers know no plan"),
    ("runtime/launch", beside("launch", "transport", "core"), "programs stand above the launcher"),
    ("runtime/api", beside("api", "run/plan", "transport", "core"), "libraries of programs' own"),
    ("runtime/run", r"runtime/(api|calibrate)/", "measurements stand above what they measure"),
    ("ir", r"(frontend|passes|codegen|runtime)/", "dialects stand alone"),
    ("ir", ONNX, "dialects know no file format"),
    ("ir", SOLVER, "Z3 lives in passes/z3"),
    ("passes", r"(frontend|codegen|runtime)/", "passes see the dialects only"),
    ("passes", ONNX, "models are the frontend's"),
    ("passes/problem", COMPILER, "the problem is plain data"),
    ("passes/problem", others("problem"), "the problem stands below judges and search"),
    ("passes/proof", COMPILER, "judges need no IR"),
    ("passes/proof", others("proof", "problem"), "judges share no code with the solver"),
    ("passes/solver", COMPILER, "solvers need no IR"),
    ("passes/solver", others("solver", "problem"), "solvers know the problem only"),
    ("passes/simulate/*", COMPILER, "only simulate/ir reads IR"),
    ("passes/simulate/*", others("simulate", "problem"), "the simulation judges planners"),
    ("passes/simulate/*", r"passes/simulate/ir/", "simulate/ir stands above"),
    ("passes/simulate/consistency", COMPILER, "only simulate/ir reads IR"),
    ("passes/simulate/consistency", others("simulate", "problem"), "it judges planners"),
    ("passes/simulate/consistency", r"passes/simulate/ir/", "simulate/ir stands above"),
    ("passes/explain/*", COMPILER, "only explain/ir reads IR"),
    ("passes/explain/*", others("explain", "solver", "problem"), "it explains solutions"),
    ("passes/explain/*", r"passes/explain/ir/", "explain/ir stands above"),
    ("passes/z3", COMPILER, "Z3 reads plain data"),
    ("passes/z3", others("z3", "problem"), "Z3 shares nothing with the solver"),
    ("passes/check", r"passes/solver/", "judges share no code with the solver"),
    ("passes/check", r"passes/lower/", "judges share no code with what they judge"),
    *(
        (f"passes/{folder}", r"passes/candidates/", "plans are compared above all passes")
        for folder in "barrier check cost differentiate fuse lower merge recompute".split()
    ),
    ("codegen", r"frontend/", "plans come through the IR"),
    ("codegen", r"runtime/", "only the runtime's public headers, syncline/..."),
    ("codegen", ONNX, "models are the frontend's"),
    ("codegen", SOLVER, "Z3 lives in passes/z3"),
    ("frontend", SOLVER, "Z3 lives in passes/z3"),
    ("frontend/report", r"(mlir|mlir-c|ir)/", "reports are made from plain structs and JSON"),
    ("frontend/report", r"frontend/(?!report|sweep|files)", "the command stands above its reports"),
    ("frontend/profile", r"frontend/(?!profile|report|files)", "the command stands above profiles"),
    ("frontend/sweep", r"frontend/(?!sweep|files)", "sweeps stand below reports"),
    ("frontend/ir", r"frontend/(?!ir|files)/|(passes|codegen)/", "files become attributes here"),
    ("frontend/files", r"frontend/(?!files)", "files are read by all the others"),
    ("frontend/files", COMPILER, "files are read without MLIR"),
    ("frontend/files", ONNX, "files are read without ONNX"),
    ("frontend/onnx", r"(passes|codegen|runtime)/", "the importer only builds IR"),
]

PROGRAMS = ("frontend/driver", "passes/opt")

# Libraries with one home each: pattern, the folders that may include it.
HOMES = [
    (r"z3", ("passes/z3", "tests")),
    (r"dnnl|oneapi/", ("runtime/cpu", "tests")),
    (r"cuda_runtime|cudnn|cublas", ("runtime/cuda", "codegen/cuda", "tests")),
    (r"png\.h|jpeglib|jerror", ("runtime/data", "tests")),
    (r"(onnx/|google/protobuf/)", ("frontend/onnx", "frontend/driver", "tests")),
    (r"yaml-cpp/", ("frontend/files", "tests")),
    (r"tinyxml2", ("frontend/files", "tests")),
    (r"zlib\.h", ("frontend/files", "tests")),
    (r"CLI/", (*PROGRAMS, "runtime/run", "runtime/launch", "runtime/calibrate", "tests")),
]

# A header's namespace is syncline::FOLDER, where FOLDER is the second folder of its path. These
# differ: folder or file, namespace, why. The first that fits counts.
NAMESPACES = [
    ("runtime/include", "syncline", "the public headers; generated code names them"),
    ("runtime/cuda/tuner", "syncline::nccl", "a plugin of NCCL, apart from the backend"),
    ("ir/*", "syncline", "shared by all dialects"),
    ("ir/cluster/Scheme.h", "syncline", "the operator must be in its type's namespace to be found"),
    ("ir/sync/Forms.h", "syncline", "as ir/cluster/Scheme.h"),
    ("passes/z3", "syncline::z3judge", "z3 is the library's namespace"),
    ("passes/*", "syncline", "TableGen fixes the passes' namespace"),
    ("frontend/onnx", "syncline::frontend", "onnx is the library's namespace"),
    ("frontend/ir", "syncline::frontend", "syncline::ir would name the dialects' folder"),
    ("codegen", "syncline::codegen", "one library, one namespace"),
]


def namespace(path):
    """The namespace that the header PATH has to be in."""
    for place, name, _ in NAMESPACES:
        if path == place or inside(path, place):
            return name
    return "syncline::" + path.split("/")[1]


# Programs join what is apart elsewhere. The C interface chooses schemes by the compiler's costs,
# which are plain data.
JOINTS = (*(folder + "/" for folder in PROGRAMS), "runtime/api/SchemeChoice.cpp")


def inside(path, folder):
    if folder.endswith("/*"):
        return path.rsplit("/", 1)[0] == folder[:-2]
    return path.startswith(folder + "/")
