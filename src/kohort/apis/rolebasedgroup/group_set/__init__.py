"""RoleBasedGroupSet: several RoleBasedGroups from one template, updated one after another."""
