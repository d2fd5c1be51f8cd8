"""The models of the published figures with the shapes that their sources trained.

A model is a function that returns a module in training mode and a sample of its inputs by the names
of the module's arguments. The sources are said where a model is not a library's.
"""

import detection_models
import forecast_models
import image_models
import other_models
import recurrent_models
import segmentation_models
import text_models

SOURCES = (
    *(image_models, detection_models, text_models, recurrent_models),
    *(forecast_models, segmentation_models, other_models),
)


def every():
    """All models by name."""
    return {name: make for source in SOURCES for name, make in source.MODELS.items()}
