"""From a prompt to a Scene, in the order in which a prompt goes through.

prompt      made uniform; weights and switches of generators read
units       cut into sentences, pieces and words; spelling repaired
framing     what is said of the picture as a whole taken out
gather      phrases that a tree only blurs made one unit; asides: those that it need not see; quantities, phrases
tree        sentences as trees, by spaCy; nodes, and mending: what the model often gets wrong
mentions    noun phrases: what is named, how many, what it is like; attributes
naming      who is meant: pronouns, subjects, owners; relations: what a preposition relates
grammar     what is said of whom
drafts      the things so far, and who is named again
parser      all of it, in one line

Words are in lexicon, lexicon_links and lexicon_pictures; meanings in ontology (ours in ontology.toml, then WordNet's);
spelling and tongue know which words are English. edits reads instructions by the same means. model, wordnet.txt and
words.txt are made by training/ and not edited by hand.
"""
