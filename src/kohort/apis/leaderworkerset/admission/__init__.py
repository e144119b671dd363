"""
Admission of LeaderWorkerSets and their pods: defaults, validation, warnings.

All of it is plain functions over plain objects. The admission server turns them into answers.
"""
