"""Statistics of queries: what people search for, what they do not find, and which hits they choose.

`recorder.QueryRecorder` counts the searches and clicks of a service in memory and adds them to files once a minute, one
file a day (`store.QueryStore`). `report.query_report` shows only counts of at least `report.LEAST_SHOWN`. Neither users
nor addresses are stored, and no URLs.
"""
