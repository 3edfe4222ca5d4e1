"""whyroute picks the (provider, model) pair that serves a declared capability under a tenant's policy, and says why.

    import whyroute as wr

    capability = wr.define_capability({"needs": [{"feature": "tool-use"}]})
    decision = wr.route(capability, registry.list("acme"), policy=policy)
    decision.provider, decision.model, decision.reason, decision.alternates

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
