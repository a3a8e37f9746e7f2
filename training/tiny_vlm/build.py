"""Build the small Qwen3-VL of the tests: weights by chance, a tokenizer of our own, and what torch says about images.

Its most likely answer to anything is "yes(3)" or "no(1)", with words and numbers that depend on the image: `nudge`.
Needs an environment of its own: pip install transformers==4.57.6 'optimum-intel[openvino]==2.2.0' openvino-tokenizers
torchvision. In the root of the repository: python training/tiny_vlm/build.py
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import openvino_tokenizers
import torch
import transformers
from optimum.exporters.openvino import main_export
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = Path(__file__).parent.parent.parent
HERE, TEXTS = ROOT / "tests/models/backends/local_model", ROOT / "src/onprompt/rubrics/texts"
MARKS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
WORDS = ("yes", "no", "Yes", "No", " yes", " no", " Yes", " No", "YES", "NO")
VOCABULARY = 700
TEMPLATE = (
    "{%- for message in messages -%}{{ '<|im_start|>' + message.role + '\n' }}{%- if message.content is string -%}"
    "{{ message.content }}{%- else -%}{%- for part in message.content -%}{%- if part.type == 'image' -%}"
    "{{ '<|vision_start|><|image_pad|><|vision_end|>' }}{%- else -%}{{ part.text }}{%- endif -%}{%- endfor -%}"
    "{%- endif -%}{{ '<|im_end|>\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}"
    "{%- endif -%}"
)
# The runtime reads the tokenizer as a network.
NOT_NEEDED = (
    *("vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json", "special_tokens_map.json"),
    "video_preprocessor_config.json",
)
QUESTION = "Is there a red ball? Answer yes or no."
# What follows what.
CHAIN = {
    "\n": WORDS,
    **dict.fromkeys(WORDS, ("(",)),
    "(": tuple("01234"),
    **dict.fromkeys("01234", (")",)),
    ")": ("<|im_end|>",),
}


def tokenizer() -> Any:
    """Bytes, the words that the tests are about, and parts of what our questions are made of."""
    reader = Tokenizer(models.BPE())
    reader.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    reader.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    texts = [path.read_text() for path in sorted(TEXTS.glob("*.txt"))]
    reader.train_from_iterator([*texts, *(word for word in WORDS for _ in range(1000))], trainer)
    made = transformers.Qwen2TokenizerFast(
        tokenizer_object=reader,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        unk_token=None,
        additional_special_tokens=list(MARKS),
    )
    made.chat_template = TEMPLATE
    return made


def network(reader: Any) -> Any:
    """A Qwen3-VL of two layers, in text as in sight."""
    number = {mark: reader.convert_tokens_to_ids(mark) for mark in MARKS}
    config = transformers.Qwen3VLConfig(
        text_config={
            **{"vocab_size": len(reader), "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2},
            **{"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 32768},
            "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True},
        },
        vision_config={
            **{"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64},
            **{"patch_size": 16, "num_position_embeddings": 16, "deepstack_visual_indexes": [0]},
        },
        image_token_id=number["<|image_pad|>"],
        video_token_id=number["<|video_pad|>"],
        vision_start_token_id=number["<|vision_start|>"],
        vision_end_token_id=number["<|vision_end|>"],
    )
    net = transformers.Qwen3VLForConditionalGeneration(config).eval()
    ends = [number["<|im_end|>"], number["<|endoftext|>"]]
    net.generation_config = transformers.GenerationConfig(eos_token_id=ends, pad_token_id=ends[1])
    return net


def nudge(net: Any, reader: Any) -> None:
    """Weights large enough for answers that differ, and a chain of tokens that is likelier than chance."""
    embedding, head = net.model.language_model.embed_tokens.weight, net.lm_head.weight
    chained = [name for name in reader.get_vocab() if reader.convert_tokens_to_string([name]) in CHAIN]
    number = {reader.convert_tokens_to_string([name]): reader.convert_tokens_to_ids(name) for name in chained}
    with torch.no_grad():
        for weight in net.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.12)
        embedding.normal_(0, 1)
        head.normal_(0, 0.05)
        common = torch.randn(embedding.shape[1])
        for name, token in reader.get_vocab().items():  # no answer may be endless: white space is rare, quotes are not
            letters = reader.convert_tokens_to_string([name])
            head[token] += (0.04 if letters == '"' else -0.1 if letters.isspace() else 0.0) * common
        axes = torch.linalg.qr(torch.randn(embedding.shape[1], embedding.shape[1]))[0] * embedding.shape[1] ** 0.5
        for axis, (name, followers) in zip(axes, CHAIN.items(), strict=False):
            embedding[number[name]] = axis  # at right angles, so that they don't stir each other
            for follower in followers:
                head[reader.convert_tokens_to_ids(follower) if follower in MARKS else number[follower]] += 0.2 * axis
        embedding += 0.5 * common


def images() -> dict[str, Image.Image]:
    """Pictures drawn by numbers, of several shapes."""
    chance = np.random.default_rng(7)
    drawn = {"red": Image.new("RGB", (128, 96), "red"), "white": Image.new("RGB", (64, 64), "white")}
    for name, size in (("noise", (96, 128)), ("wide", (256, 64))):
        drawn[name] = Image.fromarray(chance.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8))
    return drawn


def said_by_torch(net: Any, processor: Any) -> dict[str, Any]:
    """For each picture the log-probability of each word as the first token, and the likeliest answer."""
    found: dict[str, Any] = {}
    for name, image in images().items():
        chat = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": QUESTION}]}]
        text = processor.apply_chat_template(chat, add_generation_prompt=True)
        inputs = processor(text=[text], images=[image], return_tensors="pt")
        with torch.inference_mode():
            logs = net(**inputs).logits[0, -1].log_softmax(-1)
            tokens = net.generate(**inputs, max_new_tokens=16, do_sample=False)[0, inputs["input_ids"].shape[1] :]
        first = {word: round(float(logs[processor.tokenizer.encode(word)[0]]), 5) for word in WORDS}
        answer = processor.tokenizer.decode(tokens, skip_special_tokens=True)
        found[name] = {"tokens_in": inputs["input_ids"].shape[1], "first": first, "answer": answer}
    return found


def main(folder: Path, work: Path) -> None:
    torch.manual_seed(3)
    reader = tokenizer()
    net = network(reader)
    nudge(net, reader)
    sizes = {"shortest_edge": 64 * 64, "longest_edge": 256 * 256}
    shape = {"patch_size": 16, "merge_size": 2, "temporal_patch_size": 2}
    normal = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    processor = transformers.Qwen3VLProcessor(
        transformers.Qwen2VLImageProcessorFast(size=sizes, **shape, **normal),
        reader,
        transformers.Qwen3VLVideoProcessor(size=sizes, **shape, **normal),
        chat_template=TEMPLATE,
    )
    net.save_pretrained(work)
    processor.save_pretrained(work)
    main_export(str(work), folder, task="image-text-to-text", library_name="transformers")
    both = openvino_tokenizers.convert_tokenizer(reader, with_detokenizer=True)
    for name, model in zip(("tokenizer", "detokenizer"), both, strict=True):
        openvino.save_model(model, folder / f"openvino_{name}.xml")
    (HERE / "torch.json").write_text(json.dumps(said_by_torch(net, processor), indent=1) + "\n")
    for name in NOT_NEEDED:
        (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    work = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/onprompt-local-model")
    shutil.rmtree(work, ignore_errors=True)
    main(HERE / "tiny", work)
