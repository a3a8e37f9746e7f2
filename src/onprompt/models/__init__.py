"""How a model is asked: with patience, within a budget, and never twice."""
