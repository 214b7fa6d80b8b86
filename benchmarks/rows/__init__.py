"""The figures of the whole table, part by part: what each is called, its target, and how it is measured."""
