"""The examples that judge while generating, with diffusers and accelerate and a small pipeline by chance."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from tests.extras.harnesses import THEIRS

EXAMPLES = Path(__file__).parents[3] / "examples" / "generating"
SIDES = {"block_out_channels": (8, 16), "norm_num_groups": 4, "layers_per_block": 1}
UNET = {
    **{"sample_size": 16, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 16, "attention_head_dim": 2},
    **{"down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D")},
    **{"up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"), **SIDES},
}
VAE = {
    **{"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2},
    **{"latent_channels": 4, "sample_size": 32, **SIDES},
}
TEXT = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
LAUNCH = "--cpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no"
pytestmark = THEIRS


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stable Diffusion in small, which paints noise."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("pipeline")
    letters = [chr(code) for code in range(33, 127)]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77)
    first, last = len(words) - 2, len(words) - 1
    text = CLIPTextConfig(vocab_size=len(words), bos_token_id=first, eos_token_id=last, pad_token_id=last, **TEXT)
    StableDiffusionPipeline(
        vae=AutoencoderKL(**VAE),
        text_encoder=CLIPTextModel(text),
        tokenizer=tokenizer,
        unet=UNet2DConditionModel(**UNET),
        scheduler=DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder / "saved")
    return folder / "saved"


def run(folder: Path, *command: str) -> str:
    own = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, *command]
    ran = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=os.environ | own, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_best_of_n(pipeline: Path, tmp_path: Path) -> None:
    said = run(tmp_path, str(EXAMPLES / "best_of_n.py"), str(pipeline), "A red cup.", "--n", "3", "--steps", "2")
    assert sorted(re.findall(r"^\d\. image (\d): ", said, flags=re.M)) == ["0", "1", "2"], said
    assert (tmp_path / "best.png").is_file()


def test_two_processes_share_the_prompts(pipeline: Path, tmp_path: Path) -> None:
    prompts = ["A red cup.", "Two dogs.", "A cat on a sofa."]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts))
    script = [str(EXAMPLES / "judge_while_generating.py"), str(pipeline), "prompts.txt", "--steps", "2"]
    said = run(tmp_path, "-m", "accelerate.commands.launch", *LAUNCH.split(), *script)
    assert sorted(re.findall(r"^\S+(?: verdict)?  '(.*?)': ", said, flags=re.M)) == sorted(prompts), said
