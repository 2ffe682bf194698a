"""The pages of the administration under `/admin`: what needs a person, sources, URLs, approvals, schedules, logs.

Each page shows what functions of the API return, with the rights of the API. A form is a `POST` with the CSRF token of
the session, and leads back to the page that it was on. Each folder is a part of the menu; templates are in
`templates/admin`.
"""
