"""RoleBasedGroupSet: RoleBasedGroups that are alike, rolled one after another."""
