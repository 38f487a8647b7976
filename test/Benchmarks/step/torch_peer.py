"""PyTorch: eager, torch.compile, and DistributedDataParallel over gloo; f32, bf16 autocast, or all of it bf16 (pure)."""
import os
import subprocess
import sys
import tempfile

from cases import BETAS, CLIP, DECAY, DOCUMENT_END, EPS, LR, batches, hf_model


def positions_of(tokens):
    """Where each token stands in its document. Without a cache Transformers keeps tokens apart whose positions restart."""
    import torch
    index = torch.arange(tokens.shape[1]).expand_as(tokens)
    begins = torch.nn.functional.pad(tokens[:, :-1] == DOCUMENT_END, (1, 0))
    return index - torch.where(begins, index, 0).cummax(dim=1).values


def make_step(c, dtype, compiled=False, rank=None):
    """step(index) -> loss. `rank` of two data-parallel ranks with a thread each, or None for the whole batch in one process."""
    import torch
    torch.set_num_threads(1 if rank is not None else int(os.environ["PEER_THREADS"]))
    model = hf_model(c)
    if dtype == "pure":
        model = model.to(torch.bfloat16)
    if rank is not None:
        torch.distributed.init_process_group("gloo", init_method=os.environ["PEER_MEET"], rank=rank, world_size=2)
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.ndim >= 2], "weight_decay": DECAY},
              {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=LR, betas=BETAS, eps=EPS, fused=True)

    def loss_of(window):
        tokens, targets, packed = window[:, :-1], window[:, 1:], {}
        if c.get("documents"):
            packed["position_ids"] = positions_of(tokens)
            targets = targets.masked_fill(tokens == DOCUMENT_END, -100)
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
            logits = model(tokens, use_cache=False, **packed).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    function = torch.compile(loss_of, dynamic=False) if compiled else loss_of
    data = torch.from_numpy(batches(c))
    if rank is not None:
        data = data.chunk(2, dim=1)[rank]

    def step(index):
        optimizer.zero_grad(set_to_none=rank is None)
        loss = function(data[index % len(data)])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, CLIP, foreach=True)
        optimizer.step()
        if rank is not None:
            loss = loss.detach()
            torch.distributed.all_reduce(loss)
            loss /= 2
        return loss.item()
    return step


def make_ddp_step(c, case, dtype):
    """The first of two ranks; the second is a child that follows it step by step."""
    import torch
    os.environ["PEER_MEET"] = "file://" + tempfile.mktemp(prefix="peers-")
    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
    subprocess.Popen([sys.executable, worker, case, "ddp-follower", dtype], stdout=subprocess.DEVNULL)
    step = make_step(c, dtype, rank=0)

    def lead(index):
        torch.distributed.broadcast(torch.tensor([index]), 0)
        return step(index)
    return lead


def follow(c, dtype):
    import torch
    step = make_step(c, dtype, rank=1)
    while True:
        index = torch.tensor([0])
        try:
            torch.distributed.broadcast(index, 0)
        except RuntimeError:  # the leader has gone
            return
        step(index.item())


def make_sgemm_step(dtype):
    """A 2048-cubed matrix multiply: the machine's own rate, measured in the same rounds as the peers."""
    import torch
    torch.set_num_threads(int(os.environ["PEER_THREADS"]))
    a, b = (torch.randn(2048, 2048, dtype=torch.bfloat16 if dtype == "bf16" else torch.float32) for _ in range(2))

    def step(index):
        a @ b
        return 0.0
    return step
