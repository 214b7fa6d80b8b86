"""ports.Git on a real repository: six parts, each of which hands its questions to the module that knows the topic.

1. Constructing it costs nothing; git is looked for and asked when the first question comes.
2. What merges, lands, commits and makes workspaces is imported when it is first used: most commands only ask.
3. Nothing here runs under a configuration that an agent wrote (environment, clones, salvage).
"""

from .building import Building
from .moving_main import MovingMain
from .questions import Questions
from .records import Records
from .showing import Showing
from .work import Work


class Repository(Questions, Work, Building, MovingMain, Records, Showing):
    """The whole port `Git`."""
