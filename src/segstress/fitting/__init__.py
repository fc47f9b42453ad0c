"""The walk of a training: plan, network, recipe, launch, a folder with a model that can be stressed."""
