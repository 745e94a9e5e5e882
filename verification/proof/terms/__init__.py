"""Terms: operators applied to terms, hash-consed, with what is known of each.

`Terms.apply` (`term_manager.py`) builds them. It asks the registries of rewrite rules, to which
`canonicalize/` and `simplify/` add; nothing here imports a rule.
"""
