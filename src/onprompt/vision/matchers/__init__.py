"""Models that estimate how likely a text describes an image: each module is one, with `load(settings)`."""

from onprompt import plugins
from onprompt.settings import Settings
from onprompt.types import Matcher
from onprompt.vision.runtime import thread_safe_cache


@thread_safe_cache
def load_matcher(settings: Settings) -> Matcher:
    """The matcher, loaded once for each set of settings; models are shared between them."""
    name = settings.matcher.partition(":")[0]  # `hf:google/siglip2-base-patch16-224` names a model too
    matcher: Matcher = plugins.load("vision.matchers", name).load(settings)
    return matcher
