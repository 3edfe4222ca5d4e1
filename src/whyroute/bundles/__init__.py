"""Several capabilities routed together.

`routing` (route_bundle, explain_bundle), `bundle` (Bundle), `ranking` (Alternates), `explanation`, `contrast`.
"""
