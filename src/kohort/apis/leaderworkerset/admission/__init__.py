"""
What happens to objects on their way in: filling, refusing, warning, and the pods' own share.

All of it is plain functions over plain objects. The admission server turns them into answers.
"""
