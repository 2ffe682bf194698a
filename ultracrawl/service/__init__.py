"""Running crawls: in this process, in child processes, by schedules and as a long-running service.

`run.run_source` is the run function: it crawls one source in its process, also under `scrapy crawl`.
`supervisor` has it run in child processes, and alone decides who runs (`supervisor.slots.pick`); `schedules` decides
when.
`crawling.crawl_sources` crawls one source here and several with the supervisor. `orders` has the types shared by the
parts of the service.
`approval.approval_of` opens documents that wait for approval, `held_back` has what the guards hold back;
`control.steer` pauses, resumes or stops a crawl in another process.
"""
