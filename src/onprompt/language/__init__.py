"""From a prompt to a Scene; the modules in the order in which a prompt goes through them.

prompt              blanks and quotes normalized; weights and switches of image generators read
segmentation        cut into sentences, clauses and tokens, with spelling corrected; of definitions only the head
image_properties    what is said of the image as a whole taken out; with credits
chunker             phrases made one token each; with detached_phrases, quantities, group_nouns
trees               clauses as dependency trees (dependency_tree), with common errors fixed (parse_fixes), by
                    dependency_parser with word_hashes and arc_eager
noun_phrases        what is named, how many, what it is like; with attributes
coreference         who is meant: pronouns, subjects, owners
interpreter         what is said of whom; with relations
scene_builder       the objects so far, and which is named again
parser              all of these steps in turn

Word lists are in lexicon.toml; names and their meanings in ontology.toml, then WordNet; spelling and language_id know
which words are English. edits parses instructions with the same modules. parser.npz, wordnet.txt and words.txt
are made by training/ and not edited by hand.
"""
