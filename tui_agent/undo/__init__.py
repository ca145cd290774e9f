"""After the write: what the session changed, shown as one change a file, taken back, exported.

`changes` is what a runtime holds; it folds every event into the session's ledger and keeps before-images.
`watch` finds what commands changed. `plan` says what an undo would do, or why not, without doing it; only
`changes` acts, and only through the workspace. `patch` writes the changes as git reads them.
"""
