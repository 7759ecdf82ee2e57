// The workload controllers by name; every name is a choice of --controllers (options/flags/api.ts).

import type { Controller } from '../leader-election/leader-election.js'
import { attachDetach } from './attach-detach/attach-detach.js'
import { cronJobs } from './cronjob/cronjob.js'
import { daemonSets } from './daemonset/daemonset.js'
import { deployments } from './deployment/deployment.js'
import { endpointsOfServices } from './endpoint/endpoint.js'
import { endpointSlices } from './endpointslice/endpointslice.js'
import { mirroredEndpoints } from './endpointslicemirroring/endpointslicemirroring.js'
import { ephemeralVolumes } from './ephemeral-volume/ephemeral-volume.js'
import { horizontalPodAutoscalers } from './horizontalpodautoscaling/horizontalpodautoscaling.js'
import { jobs } from './job/job.js'
import type { WorkloadParts } from './kit/workload-parts.js'
import { nodeIpam } from './node-ipam/node-ipam.js'
import { nodeLifecycle } from './node-lifecycle/node-lifecycle.js'
import { persistentVolumeBinder } from './persistent-volume/persistent-volume-binder.js'
import { volumeExpander } from './persistent-volume/volume-expander.js'
import { podGarbageCollection } from './podgc/podgc.js'
import { replicaSets } from './replicaset/replicaset.js'
import { replicationControllers } from './replicaset/replication-controller.js'
import { resourceClaims } from './resource-claim/resource-claim.js'
import { scheduler } from './scheduler/scheduler.js'
import { serviceLoadBalancers } from './service-lb/service-lb.js'
import { statefulSets } from './statefulset/statefulset.js'

export const workloadTable = {
  replicaset: replicaSets,
  replicationcontroller: replicationControllers,
  deployment: deployments,
  job: jobs,
  cronjob: cronJobs,
  statefulset: statefulSets,
  daemonset: daemonSets,
  nodelifecycle: nodeLifecycle,
  endpoint: endpointsOfServices,
  endpointslice: endpointSlices,
  podgc: podGarbageCollection,
  'persistentvolume-binder': persistentVolumeBinder,
  scheduler,
  'persistentvolume-expander': volumeExpander,
  'ephemeral-volume': ephemeralVolumes,
  horizontalpodautoscaling: horizontalPodAutoscalers,
  endpointslicemirroring: mirroredEndpoints,
  'service-lb': serviceLoadBalancers,
  'resource-claim': resourceClaims,
  attachdetach: attachDetach,
  nodeipam: nodeIpam,
} satisfies { readonly [name: string]: (parts: WorkloadParts) => Controller }

export type WorkloadName = keyof typeof workloadTable
