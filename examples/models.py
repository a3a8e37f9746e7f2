"""The Python of docs/models.md and docs/jury.md: one model, many images, several models."""

import onprompt

onprompt.verify("photo.jpg", "Two dogs.", model="openai/gpt-5.2").score
items = [{"image": "a.png", "prompt": "a cat"}, {"image": "b.png", "prompt": "a dog"}]
for result in onprompt.judge_many("verify", items, model="openai/gpt-5.2"):
    print(result)  # a Verdict or an error

verdict = onprompt.verify("photo.jpg", "Two dogs.", models=["openai/gpt-5.2", "gemini/gemini-2.5-pro"])
for voice in verdict.voices:
    print(voice.name, voice.value, voice.summary or voice.error)
