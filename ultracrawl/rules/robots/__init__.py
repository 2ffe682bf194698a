"""robots.txt and robots directives.

* `rules.RobotsRules`: the rules of one robots.txt for one robot
* `policy.RobotsPolicy`: the meaning of responses, errors and time-outs for robots.txt; `origin_of` is the cache key
* `permission`: whether a page may be indexed by its directives, and the uses that its owner reserves
"""
