"""Models of a model hub: open-vocabulary detectors, closed-set detectors and segmenters."""
