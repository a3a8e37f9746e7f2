"""A small real vision-language model in llama.cpp's format, with weights by chance: a Llama, and a CLIP beside it."""

from pathlib import Path

import gguf
import numpy as np

WIDTH, HIDDEN, HEADS, LAYERS, CONTEXT = 32, 64, 4, 2, 16384
SIDE, PATCH = 56, 14
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def letters() -> list[str]:
    """A printable letter for each byte, as GPT-2 has them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def language_model(path: Path, seed: int = 0) -> None:
    """A Llama that knows bytes, and nothing else."""
    chance = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "llama")
    tokens = [*letters(), *MARKS]
    numbers = {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": LAYERS}
    numbers |= {"feed_forward_length": HIDDEN, "attention.head_count": HEADS, "attention.head_count_kv": HEADS}
    numbers |= {"rope.dimension_count": WIDTH // HEADS, "vocab_size": len(tokens)}
    for name, number in numbers.items():
        writer.add_uint32(f"llama.{name}", number)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * len(MARKS))
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(258)
    writer.add_chat_template(TEMPLATE)
    sizes = {"token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH)}
    for layer in range(LAYERS):
        square = ("attn_q", "attn_k", "attn_v", "attn_output")
        sizes |= {f"blk.{layer}.{name}": (WIDTH, WIDTH) for name in square}
        sizes |= {f"blk.{layer}.ffn_{name}": (HIDDEN, WIDTH) for name in ("gate", "up")}
        sizes[f"blk.{layer}.ffn_down"] = WIDTH, HIDDEN
    norms = ["output_norm", *(f"blk.{layer}.{name}_norm" for layer in range(LAYERS) for name in ("attn", "ffn"))]
    for name, size in sizes.items():
        writer.add_tensor(f"{name}.weight", (chance.standard_normal(size) * 0.2).astype(np.float32))
    for name in norms:
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    save(writer)


def vision_model(path: Path, seed: int = 0) -> None:
    """A CLIP with a projection into the Llama, as LLaVA has it."""
    chance = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", True)
    numbers = {"image_size": SIDE, "patch_size": PATCH, "embedding_length": WIDTH, "feed_forward_length": HIDDEN}
    numbers |= {"projection_dim": WIDTH, "block_count": LAYERS, "attention.head_count": HEADS}
    for name, number in numbers.items():
        writer.add_uint32(f"clip.vision.{name}", number)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    places = (SIDE // PATCH) ** 2 + 1
    sizes: dict[str, tuple[int, ...]] = {"v.class_embd": (WIDTH,), "v.position_embd.weight": (places, WIDTH)}
    sizes["v.patch_embd.weight"] = WIDTH, 3, PATCH, PATCH
    for end in ("weight", "bias"):
        shape = {"weight": (WIDTH, WIDTH), "bias": (WIDTH,)}[end]
        sizes |= {f"mm.{layer}.{end}": shape for layer in (0, 2)}
        sizes[f"v.pre_ln.{end}"] = (WIDTH,)
        sizes[f"v.post_ln.{end}"] = (WIDTH,)
        for layer in range(LAYERS):
            sizes |= {f"v.blk.{layer}.attn_{name}.{end}": shape for name in ("q", "k", "v", "out")}
            sizes |= {f"v.blk.{layer}.ln{number}.{end}": (WIDTH,) for number in (1, 2)}
            sizes[f"v.blk.{layer}.ffn_up.{end}"] = (HIDDEN, WIDTH) if end == "weight" else (HIDDEN,)
            sizes[f"v.blk.{layer}.ffn_down.{end}"] = (WIDTH, HIDDEN) if end == "weight" else (WIDTH,)
    for name, size in sizes.items():
        writer.add_tensor(name, (chance.standard_normal(size) * 0.1).astype(np.float32))
    save(writer)


def save(writer: gguf.GGUFWriter) -> None:
    """Write the file."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
