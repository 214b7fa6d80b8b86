"""What only a person can decide: escalations, questions, answers, and what keeps work from going on."""
