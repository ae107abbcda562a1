"""Planning by eye: the start pose and the work cell are moved in the page, and a motion is planned for them.

Nothing here moves a real arm.
"""
