"""Running crawls: in this process, in child processes, by schedules and as a long-running service.

`run.run_sources` crawls sources in this process, one after the other; `supervisor` crawls several at a time in child
processes; `schedules` decides when: `schedules.continuous.run_continuously` crawls each source when it is due. `orders`
has the types shared by the parts of the service.
`approval.approval_of` opens documents that wait for approval, `held_back` has what the guards hold back;
`control.steer` pauses, resumes or stops a crawl in another process.
"""
