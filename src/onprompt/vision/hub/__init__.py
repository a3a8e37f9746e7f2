"""Networks of a model hub: the kinds of them that serve, and how each family is asked."""
