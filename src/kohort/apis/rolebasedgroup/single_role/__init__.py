"""RoleInstanceSets and RoleInstances without a RoleBasedGroup: workloads of one role."""
