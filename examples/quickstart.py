"""The Python of the README: with images and a run file in the current folder, and a key for the model."""

import onprompt

verdict = onprompt.verify("photo.jpg", "Two dogs and a red ball.")
verdict.score, verdict.value, verdict.interval  # 0–4, 0–1, and the middle 80 % of what the value may be
for check in verdict.checks:
    print(onprompt.sentence(check))  # expected 2 × dog: found 1 (probability 0.08, picodet + efficientdet)

onprompt.rate("photo.jpg", "Two dogs and a red ball.").score  # 1–5
onprompt.verify("photo.jpg", "Two dogs and a red ball.", model="openai/gpt-5.2").score  # by a model
onprompt.edit("before.png", "after.png", "make the ball blue").factors["alignment"].score  # 1–7
for result in onprompt.judge_many("verify", [{"image": "photo.jpg", "prompt": "Two dogs."}]):
    print(result)  # a verdict, or the error that stands in its place

onprompt.best(["a.png", "b.png"], "Two dogs and a red ball.")[0].reason  # the best of n, and why
onprompt.load_run("run.sqlite").to_pandas()  # a run as a table

onprompt.see("photo.jpg", ["dog", "ball"])  # sightings: label, box, confidence, colours, traits
onprompt.match("photo.jpg", ["two dogs in the snow", "a cup of tea"])  # the probability that each describes it
onprompt.parse("two dogs on a red sofa").things  # what a prompt asks for
