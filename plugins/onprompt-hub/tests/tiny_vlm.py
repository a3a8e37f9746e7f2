"""Small real vision-language models, with weights by chance, saved as the hub keeps them."""

from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from onprompt_hub.backend import without_video

QWEN = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
)
IDEFICS = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<fake_token_around_image>", "<image>", "<end_of_utterance>"),
    *("<global-img>", *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7))),
)
WORDS = ("Ġno", "yes", "no", "Yes", "No")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}IMAGE{% else %}{{ c['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT: dict[str, Any] = {
    **{"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4},
    **{"num_key_value_heads": 2, "max_position_embeddings": 4096, "tie_word_embeddings": False},
}


LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
MERGES = [(word[:end], word[end]) for word in WORDS for end in range(1, len(word))]
PARTS = list(dict.fromkeys([*LETTERS, *(first + last for first, last in MERGES)]))


def words(marks: tuple[str, ...]) -> Any:
    """A tokenizer of bytes that knows a few words whole."""
    reader = Tokenizer(models.BPE(vocab={part: at for at, part in enumerate(PARTS)}, merges=MERGES))
    reader.pre_tokenizer, reader.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=reader,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(marks),
    )


def qwen(folder: Path) -> Any:
    reader = words(QWEN)
    images = hf.Qwen2VLImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": 224 * 224})
    template = TEMPLATE.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")
    processor = without_video(hf.Qwen2_5_VLProcessor)(images, reader, chat_template=template)
    processor.save_pretrained(folder)
    number = dict(zip(QWEN, reader.convert_tokens_to_ids(list(QWEN)), strict=True))
    sight = {
        **{"depth": 3, "hidden_size": 32, "intermediate_size": 44, "num_heads": 2, "out_hidden_size": 32},
        **{"fullatt_block_indexes": [1], "window_size": 112, "patch_size": 14},
    }
    config = hf.Qwen2_5_VLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(reader),
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]},
        },
        vision_config=sight,
        image_token_id=number["<|image_pad|>"],
        video_token_id=number["<|video_pad|>"],
        vision_start_token_id=number["<|vision_start|>"],
        vision_end_token_id=number["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    net = hf.Qwen2_5_VLForConditionalGeneration(config)
    net.generation_config = hf.GenerationConfig(
        eos_token_id=[number["<|im_end|>"], number["<|endoftext|>"]], repetition_penalty=1.3, do_sample=True
    )
    return net


def idefics(folder: Path) -> Any:
    reader = words(IDEFICS)
    images = hf.Idefics3ImageProcessorPil(size={"longest_edge": 64}, max_image_size={"longest_edge": 32})
    template = TEMPLATE.replace("IMAGE", "<image>")
    hf.Idefics3Processor(images, reader, image_seq_len=4, chat_template=template).save_pretrained(folder)
    sight = {
        **{"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2},
        **{"image_size": 32, "patch_size": 8},
    }
    config = hf.Idefics3Config(
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(reader)},
        vision_config=sight,
        scale_factor=2,
        image_token_id=reader.convert_tokens_to_ids("<image>"),
        tie_word_embeddings=False,
    )
    net = hf.Idefics3ForConditionalGeneration(config)
    net.generation_config = hf.GenerationConfig(eos_token_id=reader.eos_token_id)
    return net


MODELS = {"qwen2_5_vl": qwen, "idefics3": idefics}


def save(name: str, folder: Path) -> Path:
    """A model in a folder, the same each time, with weights large enough for answers that differ."""
    torch.manual_seed(0)
    net = MODELS[name](folder)
    with torch.no_grad():
        for weight in net.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.3)
        for token in range(len(net.lm_head.weight)):  # bytes and marks by chance would be no text
            if token >= len(PARTS) or not PARTS[token].isascii() or not PARTS[token].isalnum():
                net.lm_head.weight[token] = 0
    net.save_pretrained(folder)
    return folder
