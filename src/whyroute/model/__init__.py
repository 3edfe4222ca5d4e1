"""What people declare: capabilities, providers, policies, rules, conditions, regions, times."""
