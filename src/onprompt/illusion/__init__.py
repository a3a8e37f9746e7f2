"""IllusionBench: which shape hides in this scene?"""
