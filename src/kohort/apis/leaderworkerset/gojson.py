"""
The types of LeaderWorkerSet as Go writes them; a revision key is a hash over these bytes.
"""

from kohort.apis.gojson import CLAIM, POD_TEMPLATE, RETENTION, GoTypes

TEMPLATE = "lws.LeaderWorkerTemplate"
NETWORK = "lws.NetworkConfig"

_TYPES = GoTypes(
    {
        TEMPLATE: [
            f"leaderTemplate *{POD_TEMPLATE} o",
            f"workerTemplate {POD_TEMPLATE} ",
            "size *number o",
            "restartPolicy string o",
            "subGroupPolicy *lws.SubGroupPolicy o",
            f"volumeClaimTemplates []{CLAIM} o",
            f"persistentVolumeClaimRetentionPolicy *{RETENTION} o",
        ],
        NETWORK: ["subdomainPolicy *string "],
        "lws.SubGroupPolicy": ["subGroupPolicyType *string o", "subGroupSize *number o"],
    }
)

write_typed = _TYPES.write
