"""The nouns and the contracts. At run time this package imports nothing else of ours."""

from onprompt.types.contracts import (
    FRAME,
    IMAGE,
    NAMES,
    TEXT,
    Asks,
    Backend,
    Detector,
    Engine,
    Graded,
    Input,
    Job,
    Judge,
    Line,
    Matcher,
    Reading,
    Rubric,
)
from onprompt.types.image import Box, Decoded, Detections, NameMatch, Picture, Sighting, Swatch, Trait, View
from onprompt.types.question import Answer, JudgePlan, Message, Part, Question, SentImage, TokenProbs, Usage
from onprompt.types.scene import Attribute, Count, Edit, Name, Relation, Scene, Thing
from onprompt.types.verdict import (
    Check,
    Claim,
    EditEvidence,
    Evidence,
    FactorScore,
    Finding,
    Flag,
    Found,
    ObjectChange,
    Outcome,
    PromptEvidence,
    Sample,
    Verdict,
    Voice,
)
