"""How well a GPU is used by a model in this process: `python bench/gpu.py`. Needs onprompt[hf] and a GPU, no network.

The model is a Qwen2.5-VL of about 10 billion parameters with weights by chance, which cost the same, in bfloat16.
Pictures are JPEGs of 448 × 448 (256 tokens); texts are the rubric of `verify`, whole (1735 tokens) or cut so that
prompt and template make it about 290. The tokenizer takes each word and each mark for a token. Prints, and writes as
JSON with --out:

- answers of 64 tokens: pictures a second by a plain loop of `generate`, and by the backend, asked by threads;
- scoring by the chances of yes and no alone: pictures a second, and the share of the rate at which this GPU multiplies
  large matrices. Only what is computed counts as work: no padding, and a beginning that is shared once.

`--small` makes a network of two layers, to try this script on any machine.
"""

import argparse
import io
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import onprompt
from onprompt.models.backends.transformers import Loaded, Transformers, without_video
from onprompt.models.network import Network
from onprompt.settings import Settings
from onprompt.types import Message, Question, Shown
from onprompt.vision.image import open_picture

RUBRIC = (Path(onprompt.__file__).parent / "rubrics/texts/verify-1.txt").read_text(encoding="utf-8")
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PROMPTS = ("a red book beside a small blue cup", "two dogs play with a ball in a park", "a tall giraffe eats leaves")
ANSWER = 64  # tokens
FILES = 128  # pictures that differ
CUT = 300  # tokens of the shorter text
LARGE = {"num_hidden_layers": 36, "hidden_size": 3584, "intermediate_size": 18944, "vocab_size": 152064}
HEADS = {"num_attention_heads": 28, "num_key_value_heads": 4}
SIGHT = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 3584}
SMALL = {"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 2048}
SMALL_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
SMALL_SIGHT = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}


def processor():
    """Words to numbers, pictures to patches."""
    split = pre_tokenizers.Whitespace()
    seen = [
        word for text in (RUBRIC, *PROMPTS, "yes no Yes No user assistant") for word, _ in split.pre_tokenize_str(text)
    ]
    words = {word: number for number, word in enumerate(dict.fromkeys(["[UNK]", *seen]))}
    reader = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    reader.pre_tokenizer, reader.decoder = split, decoders.Fuse()
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=reader, pad_token=MARKS[0], eos_token=MARKS[2], additional_special_tokens=MARKS
    )
    images = transformers.Qwen2VLImageProcessorPil()
    return without_video(transformers.Qwen2_5_VLProcessor)(images, made, chat_template=TEMPLATE)


def network(options, made, device):
    """A network with weights by chance, made where it will run."""
    text, heads, sight = (SMALL, SMALL_HEADS, SMALL_SIGHT) if options.small else (LARGE, HEADS, SIGHT)
    sections = {"mrope_section": [2, 3, 3] if options.small else [16, 24, 24]}
    text = {**text, **heads, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, **sections}}
    if options.params and not options.small:
        layer = text["hidden_size"] * (2.3 * text["hidden_size"] + 3 * text["intermediate_size"])
        text["num_hidden_layers"] = max(1, round((options.params - 1.76) * 1e9 / layer))
    config = transformers.Qwen2_5_VLConfig(
        text_config={**text, "tie_word_embeddings": False},
        vision_config={**sight, "fullatt_block_indexes": [1] if options.small else [7, 15, 23, 31]},
        image_token_id=made.tokenizer.convert_tokens_to_ids("<|image_pad|>"),
        vision_start_token_id=made.tokenizer.convert_tokens_to_ids("<|vision_start|>"),
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    with torch.device(device):
        return transformers.AutoModelForImageTextToText.from_config(config, dtype=dtype).eval()


@cache
def file(number):
    """A JPEG by chance."""
    small = np.random.default_rng(number).integers(0, 256, (28, 28, 3), dtype=np.uint8)
    written = io.BytesIO()
    Image.fromarray(small).resize((448, 448), Image.Resampling.BICUBIC).save(written, "JPEG", quality=90)
    return written.getvalue()


def pictures(count):
    """Pictures that are decoded when they are asked about."""
    return [Shown(open_picture(file(number % FILES), Settings()), 448, "jpeg", 95) for number in range(count)]


def questions(count, text, **more):
    """The rubric, a prompt and a picture, as `verify` asks; or the picture first, so that nothing is shared."""
    found = []
    for number, shown in enumerate(pictures(count)):
        words = f'{text}Input Prompt: "{PROMPTS[number % len(PROMPTS)]}"'
        parts = (shown, words) if more.get("picture_first") else (words, shown)
        wish = {key: value for key, value in more.items() if key != "picture_first"}
        found.append(Question((Message("user", parts),), longest=ANSWER, **wish))
    return found


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def matrix_rate(device):
    """Floating-point operations a second of a large product of matrices, the median of ten after three."""
    side, times = (8192, []) if device == "cuda" else (512, [])
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    a, b = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    for _ in range(13):
        synchronize()
        start = time.perf_counter()
        for _ in range(4):
            a @ b
        synchronize()
        times.append((time.perf_counter() - start) / 4)
    return 2 * side**3 / statistics.median(times[3:])


def one_by_one(net, made, asked):
    """Pictures a second of what anybody would write first."""
    net.set_attn_implementation({"vision_config": "sdpa"})
    lasted = 0.0
    for number, question in enumerate(asked):
        synchronize()
        start = time.perf_counter()
        (message,) = question.messages
        content = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image", "image": Image.fromarray(part.picture.pixels)}
            for part in message.parts
        ]
        inputs = made.apply_chat_template(
            [{"role": "user", "content": content}],
            **{"add_generation_prompt": True, "tokenize": True, "return_dict": True, "return_tensors": "pt"},
        ).to(net.device)
        with torch.inference_mode():
            found = net.generate(
                **inputs, min_new_tokens=ANSWER, max_new_tokens=ANSWER, do_sample=False, pad_token_id=0
            )
        assert found.shape[1] - inputs["input_ids"].shape[1] == ANSWER
        made.decode(found[0])
        if number:  # the first warms up
            lasted += time.perf_counter() - start
    return (len(asked) - 1) / lasted


def by_threads(backend, asked, warm):
    """Pictures a second of the backend, asked by twice as many threads as a batch has places; its batches' sizes."""
    sizes, generate = [], backend.network.generate

    def noted(batch, *rest, **more):
        sizes.append((len(batch.inputs["input_ids"]), batch.prefix, batch.inputs["input_ids"].shape[1]))
        return generate(batch, *rest, **more)

    backend.network.generate = noted
    with ThreadPoolExecutor(2 * backend.batcher.largest) as pool:
        list(pool.map(backend.ask, warm))
        sizes.clear()
        synchronize()
        start = time.perf_counter()
        answers = list(pool.map(backend.ask, asked))
        lasted = time.perf_counter() - start
    backend.network.generate = generate
    return len(asked) / lasted, answers, sizes


def work(net, answers, patches, shared):
    """Floating-point operations of one pass over all questions: linear layers, attention, the last token's logits."""
    text, sight = net.config.text_config, net.config.vision_config
    layers = sum(weight.numel() for weight in net.model.language_model.layers.parameters())
    blocks = sum(weight.numel() for weight in net.model.visual.blocks.parameters())
    merger = sum(weight.numel() for weight in net.model.visual.merger.parameters())
    total = 0.0  # what is shared was computed before
    for answer in answers:
        own = answer.usage.tokens_in - shared
        total += 2 * layers * own + 2 * text.vocab_size * text.hidden_size
        total += 4 * text.num_hidden_layers * text.hidden_size * own * (shared + own / 2)
        full = len(sight.fullatt_block_indexes)
        seen = full * patches + (sight.depth - full) * 64  # by a patch, in all layers
        total += 2 * (blocks + merger / 4) * patches + 4 * sight.hidden_size * seen * patches
    return total


def scored(backend, options, rate, text, picture_first):
    """Scoring by chances alone."""
    asked = questions(
        options.scored + 4 * options.score_batch, text, choices=("yes", "no"), picture_first=picture_first
    )
    backend.batcher.largest = options.score_batch
    speed, answers, sizes = by_threads(backend, asked[: options.scored], asked[options.scored :])
    shared = max(each for _, each, _ in sizes)
    done = work(backend.network.net, answers, 1024, shared)
    return {
        "pictures_a_second": round(speed, 2),
        "tokens_of_a_question": round(statistics.fmean(answer.usage.tokens_in for answer in answers)),
        "tokens_shared": shared,
        "teraflops": round(done * speed / len(answers) / 1e12, 1),
        "share_of_matrix_rate": round(done * speed / len(answers) / rate, 4),
        "batches": [size for size, _, _ in sizes],
    }


def answered(backend, options, alone, text):
    """Answers of a fixed length, against the loop."""
    asked = questions(options.answered + options.batch, text)
    backend.batcher.largest = options.batch
    speed, answers, sizes = by_threads(backend, asked[: options.answered], asked[options.answered :])
    assert {answer.usage.tokens_out for answer in answers} == {ANSWER}
    return {
        "one_by_one": round(alone, 3),
        "backend": round(speed, 2),
        "ratio": round(speed / alone, 1),
        "tokens_of_a_question": round(statistics.fmean(answer.usage.tokens_in for answer in answers)),
        "tokens_shared": max(each for _, each, _ in sizes),
        "batches": [size for size, _, _ in sizes],
    }


def profiled(backend, options, text):
    """Where the GPU's time goes while questions are scored."""
    asked = questions(2 * options.score_batch, text, choices=("yes", "no"), picture_first=True)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    ) as seen:
        by_threads(backend, asked[options.score_batch :], asked[: options.score_batch])
    order = "self_cuda_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    print(seen.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=70))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a network of two layers, to try this script")
    parser.add_argument("--params", type=float, help="billions of parameters; about 10 if not given")
    parser.add_argument("--batch", type=int, default=128, help="answers at a time")
    parser.add_argument("--score-batch", type=int, default=64, help="scores at a time")
    parser.add_argument("--answered", type=int, default=512, help="questions that are answered in words")
    parser.add_argument("--scored", type=int, default=512, help="questions that are scored")
    parser.add_argument("--alone", type=int, default=5, help="questions that are answered one by one")
    parser.add_argument("--no-answers", action="store_true", help="scores only")
    parser.add_argument("--no-sharing", action="store_true", help="compute the beginning of each question")
    parser.add_argument("--plain-windows", action="store_true", help="leave the attention of pictures as it is")
    parser.add_argument("--profile", action="store_true", help="also say where the time goes")
    parser.add_argument("--out", type=Path, help="a file for the results")
    return parser.parse_args()


def main():
    options = arguments()
    transformers.logging.set_verbosity_error()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    made = processor()
    net = network(options, made, device)
    rate = matrix_rate(device)
    offsets = made.tokenizer(RUBRIC, return_offsets_mapping=True)["offset_mapping"]
    cut = RUBRIC[: offsets[CUT - 30][0]]  # 30 for the prompt and the template
    backend = Transformers("by chance", Loaded(Network(net, 0, ()), made, ""), options.batch)
    backend.network.caches_prefix = not options.no_sharing
    if options.plain_windows:
        net.set_attn_implementation({"vision_config": "sdpa"})
    found = {
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "parameters": sum(weight.numel() for weight in net.parameters()),
        "matrix_teraflops": round(rate / 1e12, 1),
        "batch": options.batch,
        "score_batch": options.score_batch,
    }
    print(json.dumps(found), flush=True)
    for name, text, first in (
        ("text of 300 tokens after the picture, nothing shared", cut, True),
        ("text of 300 tokens before the picture", cut, False),
        ("the whole rubric before the picture", RUBRIC, False),
    ):
        found[f"scores: {name}"] = scored(backend, options, rate, text, first)
        print(name, json.dumps(found[f"scores: {name}"]), flush=True)
    if options.profile:
        profiled(backend, options, cut)
    if not options.no_answers:
        for name, text in (("text of 300 tokens", cut), ("the whole rubric", RUBRIC)):
            windows = net.config.vision_config._attn_implementation
            alone = one_by_one(net, made, questions(options.alone + 1, text))
            net.set_attn_implementation({"vision_config": windows})
            found[f"answers: {name}"] = answered(backend, options, alone, text)
            print(name, json.dumps(found[f"answers: {name}"]), flush=True)
    report(found)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))


def report(found):
    """The table."""
    print(
        f"\n{found['device']}, {found['parameters'] / 1e9:.2f} billion parameters, {found['matrix_teraflops']} TFLOP/s"
    )
    for name, row in found.items():
        if name.startswith("scores"):
            print(
                f"{name}: {row['pictures_a_second']} pictures/s, {row['teraflops']} TFLOP/s, "
                f"{row['share_of_matrix_rate']:.1%} of the matrix rate"
            )
        elif name.startswith("answers"):
            print(f"{name}: {row['one_by_one']} → {row['backend']} pictures/s, {row['ratio']} times as many")


main()
