"""A model's tokens and chat template, by llama.cpp."""

from __future__ import annotations

import ctypes
import logging
from typing import TYPE_CHECKING, Any

import llama_cpp
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.llm.runtime.generation import Message

logger = logging.getLogger(__name__)

_MAX_BYTES = 256
"""Bytes of a token's text at most."""
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class Vocabulary:
    """The vocabulary of a loaded model.

    Args:
        model: llama.cpp's model.
    """

    def __init__(self, model: Any) -> None:
        self.vocab: Any = llama_cpp.llama_model_get_vocab(model)
        self._formatter = self._make_formatter(llama_cpp.llama_model_chat_template(model, None))

    def _make_formatter(self, raw: bytes | None) -> Jinja2ChatFormatter:
        template = raw.decode("utf-8", "replace") if raw else _CHATML
        end = self._text(llama_cpp.llama_vocab_eos(self.vocab))
        begin = self._text(llama_cpp.llama_vocab_bos(self.vocab))
        try:
            return Jinja2ChatFormatter(template, eos_token=end, bos_token=begin)
        except Exception:  # a stranger's template may be anything
            logger.exception("the model's chat template can't be used")
            return Jinja2ChatFormatter(_CHATML, eos_token=end, bos_token=begin)

    def _text(self, token: int) -> str:
        raw = llama_cpp.llama_vocab_get_text(self.vocab, token) if token >= 0 else b""
        return raw.decode("utf-8", "replace") if raw else ""

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Return the tokens of a text.

        Args:
            text: Any text.
            special: Whether markers such as <|im_start|> count as such. Never for a book's text
                or a user's words.
        """
        raw = text.encode("utf-8", "replace")
        size = len(raw) + 8
        buffer = (llama_cpp.llama_token * size)()
        count = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), buffer, size, False, special)
        return list(buffer[:count])

    def token_bytes(self, token: int) -> bytes:
        """Return the text of a token, which may be a part of a character."""
        buffer = ctypes.create_string_buffer(_MAX_BYTES)
        count = llama_cpp.llama_token_to_piece(self.vocab, token, buffer, _MAX_BYTES, 0, False)
        return buffer.raw[:count] if count > 0 else b""

    def is_end(self, token: int) -> bool:
        """Return whether a token ends the text."""
        return bool(llama_cpp.llama_vocab_is_eog(self.vocab, token))

    def chat(self, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
        """Return the prompt for some messages by the model's own template.

        The texts are tokenized apart from the template's markers, so that a book that contains
        "<|im_end|>" can't end its own quotation.

        Returns:
            The tokens, and where in them each part of the last message begins and the last one
            ends.
        """
        marks = [f"\x02{index}\x03" for index in range(len(messages))]
        frame = self._formatter(
            messages=[
                {"role": role, "content": mark}
                for (role, _), mark in zip(messages, marks, strict=True)
            ]
        ).prompt
        tokens: list[int] = []
        begin = llama_cpp.llama_vocab_bos(self.vocab)
        if llama_cpp.llama_vocab_get_add_bos(self.vocab):
            tokens.append(begin)
        for (_, text), mark in zip(messages, marks, strict=True):
            before, _, frame = frame.partition(mark)
            opening = self.tokenize(before, special=True)
            tokens += opening[1:] if tokens == opening[:1] else opening
            places = [len(tokens)]
            for part in (text,) if isinstance(text, str) else text:
                tokens += self.tokenize(part)
                places.append(len(tokens))
        tokens += self.tokenize(frame, special=True)
        return tokens, places
