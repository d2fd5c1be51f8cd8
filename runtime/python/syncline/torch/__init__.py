"""PyTorch with a plan: wrap() of a model, the backend 'syncline', DDP with a plan's buckets."""


def register():
    """Makes the backend known to torch.distributed; the entry point that PyTorch loads."""
    import torch.distributed as dist

    from syncline.torch.backend import SynclineBackend

    devices = ["cpu", "cuda"]
    dist.Backend.register_backend("syncline", SynclineBackend, extended_api=True, devices=devices)


def process_group(timeout=None):
    """A group of all ranks for DistributedDataParallel(process_group=..), by SYNCLINE_PLAN: for
    PyTorch before 2.14, whose init_process_group() does not know the backend. All ranks call it
    behind init_process_group("gloo"). `timeout` is a timedelta; default: 30 minutes."""
    from syncline.torch import group

    return group.made(timeout)


def buckets(model, plan=None):
    """DDP's bucket_cap_mb_list for a model and the messages of a plan, a folder; default: that of
    SYNCLINE_PLAN. For those who call DDP themselves, such as Lightning's DDPStrategy. Make the plan
    with `compile --planner ddp-list`, so that its messages have whole modules' gradients, in the
    order in which they become ready. Raises ValueError for another model's plan, and syncline.Error
    where a lazy module has not run."""
    from syncline.torch import versions

    versions.check_bucket_list()
    from syncline.torch import parallel

    return parallel.buckets(model, parallel.opened(plan))


def ddp(model, plan=None, **settings):
    """DistributedDataParallel(model, **settings) with the buckets() of the process group's plan.
    Raises ValueError where the group has none, or another one than the given plan, a folder, or
    SYNCLINE_PLAN; and at a forward pass RuntimeError, where a parameter was changed since. Unless
    `gradient_as_bucket_view` is given it is True, which spares a copy of all gradients.

    What torch.compile compiles has its gradients ready in an order of its own, by the size of
    graphs, which it cuts at `bucket_cap_mb` MiB of parameters (default: the largest bucket). Plan
    from a recording of the compiled script, by DistributedDataParallel with the same
    `bucket_cap_mb`. Other buckets than the plan's are told once, and summed all the same."""
    from syncline.torch import versions

    versions.check_bucket_list()
    from syncline.torch import parallel

    return parallel.made(model, plan, settings)


def plan(model, sample, cluster, output, way="auto", **options):
    """Makes the plan folder `output` for a model that takes `sample`: a tensor, a tuple of
    arguments or a dict of them by name, of which each rank has as many samples. `cluster` and
    `options` are those of syncline.compile.

    The model is exported to ONNX and planned by its shapes; with `plan_only=False` Syncline can run
    the plan, too. What cannot be exported or planned so is planned by the times of three steps
    here, whose loss is the mean of the outputs. `way` may ask for one: 'export' or 'recording'.
    With overlap="step", or "auto" where that is shorter, messages reach into the next forward pass,
    as wrap() with its optimizer lets them, and DistributedDataParallel does not.
    Returns a Planned, which says what was done. The model stays as it was. Raises syncline.Error.
    """
    from syncline.torch.planning import plan

    return plan(model, sample, cluster, output, way, **options)


def profile(model, sample, output, loss=None, steps=10):
    """Measures the model's steps on this machine and writes medians to `output`: a .json file is
    for syncline.compile(profile=..) of the exported model, and needs its export; a .csv file is a
    layer trace to plan from. `loss` takes the model's output (default: the mean of the outputs).
    What has no parameters counts to the module with parameters before it. Returns a Profiled."""
    from syncline.torch.profiling import profile

    return profile(model, sample, output, loss, steps)


def calibrate(output, seconds=60, group=None):
    """Measures all-reduces of the group (default: the script's), its links and devices, and what
    computation loses beside messages; rank 0 writes the cluster file `output`. All ranks of the
    group call it, and all return the same Calibrated."""
    from syncline.torch.calibration import calibrate

    return calibrate(output, seconds, group)


def wrap(
    model,
    plan=None,
    optimizer=None,
    process_group=None,
    allow_unused=False,
    broadcast_buffers=True,
):
    """Puts hooks into the model, which is returned: its gradients become means over the ranks of
    `process_group` (default: all), by the messages of the plan, a folder (default: that of
    SYNCLINE_PLAN). Parameters and buffers become those of rank 0, buffers again before each
    training forward pass.

    Members of the plan are named_parameters() by name, else by a size that no other has. A backward
    pass waits for its messages. Where the plan overlaps steps and the `optimizer` is given, its
    step() applies what has arrived and sets all gradients to None; later updates happen before the
    next forward pass uses their parameters, before eval(), state_dict() or finish(model). Use
    clip_grad_norm_(model, max_norm) for clipping. GradScaler, other clipping and closures need
    gradients at step(): leave `optimizer` out for them. With a plan of `local` or `diloco` weights
    travel behind the optimizer's steps, and at finish(model).

    With the `optimizer`, messages of 'reduce-scatter' leave each rank the means of a shard, which
    alone it updates: optimizer.state has views of parameters with 1/ranks of all state. All ranks
    call optimizer.state_dict(), which has the state of whole parameters, as load_state_dict()
    wants it. Optimizers are those of torch.optim that update each element by itself; parameters
    are whole behind step(), or by a plan that overlaps steps where they are used.

    A torch.nn.Linear whose message has the scheme 'factors' sends its inputs and the gradients of
    its outputs, of which ranks may have different numbers. Its own gradients are not computed. In a
    step that has more to send, as behind no_sync(), or where torch.compile runs the layer, its
    gradients are summed; so are those of ranks that differ in processors, threads or PyTorch.
    wrap() says what is not as planned.

    A trained parameter without a gradient is an error, or counts as zeros with `allow_unused`. An
    exception names a lost rank, at the latest behind the timeout of the process group.
    """
    from syncline.torch import versions

    versions.check_hooks()
    from syncline.torch.wrapped import wrap as wrapping

    given = (model, plan, optimizer, process_group, allow_unused, broadcast_buffers)
    return wrapping.wrap(*given)


def no_sync(model):
    """A context in which backward passes of a wrapped model add up gradients and send none."""
    from syncline.torch.wrapped import wrap as wrapping

    return wrapping.no_sync(model)


def clip_grad_norm_(model, max_norm):
    """Scales the gradients of a wrapped model as torch.nn.utils.clip_grad_norm_() does, wherever
    the plan leaves them, and returns their norm before. All ranks call it, between the backward
    pass, for whose messages it waits, and step()."""
    from syncline.torch.wrapped import wrap as wrapping

    return wrapping.clip_grad_norm(model, max_norm)


def finish(model):
    """Waits for the messages of a wrapped model's last step and applies its late updates, so that
    its parameters can be read."""
    from syncline.torch.wrapped import wrap as wrapping

    wrapping.finish(model)
