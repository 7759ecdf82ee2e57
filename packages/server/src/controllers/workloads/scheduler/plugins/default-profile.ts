// The plugins of the default profile, in the order in which they judge a node.

import { balancedAllocation } from './balanced-allocation.js'
import { imageLocality } from './image-locality.js'
import { interPodAffinity } from './inter-pod-affinity.js'
import { nodeAffinity } from './node-affinity.js'
import { nodeName } from './node-name.js'
import { nodePorts } from './node-ports.js'
import { nodeResourcesFit } from './node-resources-fit.js'
import { nodeUnschedulable } from './node-unschedulable.js'
import { azureDiskLimits, ebsLimits, gcePdLimits, nodeVolumeLimits } from './node-volume-limits.js'
import type { Plugin } from './plugin.js'
import { podTopologySpread } from './pod-topology-spread.js'
import { taintToleration } from './taint-toleration.js'
import { volumeBinding } from './volume-binding.js'
import { volumeRestrictions } from './volume-restrictions.js'
import { volumeZone } from './volume-zone.js'

export const defaultProfile: readonly Plugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  ebsLimits,
  gcePdLimits,
  nodeVolumeLimits,
  azureDiskLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  balancedAllocation,
  imageLocality,
]
