"""The service: the catalog of capabilities, providers and routing over HTTP. It needs the extra `server`."""
