"""IllusionBench (seed 004): which shape hides in this scene?"""
