// Pods may keep others away from their node, and not from a whole zone.

import type { Plugin } from '../admission.js'
import { changedPod, refusePod } from '../pods.js'

export const limitPodHardAntiAffinityTopology: Plugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  collections: ['pods'],
  validate: (request) => {
    const pod = changedPod(request)
    const allowed = request.identity.label('hostname')
    const terms = pod?.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const other = terms.find(({ topologyKey }) => topologyKey !== allowed)
    if (other === undefined) return
    throw refusePod(
      request,
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey ?? ''} but only key ${allowed} is allowed`,
    )
  },
}
