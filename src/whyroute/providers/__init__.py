"""Who can serve: the registry, adapters, importers, files of providers."""
