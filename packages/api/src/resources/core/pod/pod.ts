// Pods: groups of containers that run together on one node.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { withMetadata } from '../../api/object.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { evictionSubresource } from '../policy/eviction.js'
import { bindingSubresource } from './binding.js'
import { attachSubresource, execSubresource, logSubresource, portForwardSubresource } from './pod/connections.js'
import { podCells, podColumns, podRowConditions } from './pod/pod-cells.js'
import { validateDebugging, validatePodChange } from './pod/pod-change.js'
import { validatePodStatus, withAddresses } from './pod/pod-status.js'
import { qosClassOf } from './pod/qos-class.js'
import { validateNewPod } from './pod/validate-pod.js'
import { mapContainers } from './pod-spec/all-containers.js'
import { withoutGatedFields } from './pod-spec/gated-fields.js'
import { withoutInitAnnotations } from './pod-spec/init-annotations.js'
import { withPodDefaults } from './pod-spec/pod-spec-defaults.js'
import { containerSeccompPrefix, podSeccompKey, profileOfAnnotation } from './pod-spec/seccomp.js'
import { podWarnings } from './pod-spec/warnings.js'
import { proxySubresource } from './proxy-subresource.js'
import { type Pod, type PodSpec, podProxyOptions, pod as schema } from './v1.schema.js'

function defaults(sent: Pod, { identity }: RuleContext): Pod {
  const pod = withoutInitAnnotations(sent, identity)
  const spec = withPodDefaults(pod.spec ?? {})
  const status = pod.status === undefined ? undefined : withAddresses(pod.status)
  if (spec === pod.spec && status === pod.status) return pod
  return { ...pod, spec, ...(status === undefined ? {} : { status }) }
}

function prepareCreate(pod: Pod, context: RuleContext): Pod {
  const spec = withSeccompFields(withoutGatedFields(pod.spec ?? {}, undefined, context.gates), pod, context)
  const waits = spec.schedulingGates === undefined ? {} : { conditions: [gatedCondition] }
  return { ...pod, spec, status: { phase: 'Pending', ...waits, qosClass: qosClassOf(spec) } }
}

const gatedCondition = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
}

/** Filters of system calls that old clients give as annotations become fields, where those say nothing. */
function withSeccompFields(spec: PodSpec, { metadata }: Pod, { identity }: RuleContext): PodSpec {
  const annotations = metadata?.annotations
  if (annotations === undefined) return spec
  const profileOf = (key: string) => (annotations[key] === undefined ? undefined : profileOfAnnotation(annotations[key]))
  const ofPod = spec.securityContext?.seccompProfile === undefined ? profileOf(podSeccompKey(identity)) : undefined
  const next = ofPod === undefined ? spec : { ...spec, securityContext: { ...spec.securityContext, seccompProfile: ofPod } }
  return mapContainers(next, (container) => {
    const own = profileOf(`${containerSeccompPrefix(identity)}${container.name ?? ''}`)
    if (own === undefined || container.securityContext?.seccompProfile !== undefined) return container
    return { ...container, securityContext: { ...container.securityContext, seccompProfile: own } }
  })
}

const withStatusOf = (next: Pod, old: Pod): Pod => (next.status === old.status ? next : { ...next, status: old.status ?? {} })

const prepareUpdate = (next: Pod, old: Pod, { gates }: RuleContext): Pod => ({
  ...withStatusOf(next, old),
  spec: withoutGatedFields(next.spec ?? {}, old.spec, gates),
})

/** Nodes of old report owners wrongly, so that the status leaves them alone. Nor is it the way to delete a pod. */
const prepareStatus = (next: Pod, old: Pod): Pod => ({
  ...withMetadata(next, { ownerReferences: old.metadata?.ownerReferences, deletionTimestamp: old.metadata?.deletionTimestamp }),
  spec: old.spec ?? {},
})

/** Through this door only containers for debugging come in. Who sent them is not noted, as clients know it. */
function prepareDebugging(next: Pod, old: Pod): Pod {
  const { resourceVersion, uid } = next.metadata ?? {}
  const { ephemeralContainers } = next.spec ?? {}
  const { ephemeralContainers: _, ...rest } = old.spec ?? {}
  return {
    ...withMetadata(old, { resourceVersion, uid }),
    spec: ephemeralContainers === undefined ? rest : { ...rest, ephemeralContainers },
  }
}

/** A pod that never ran, or has ended, goes at once. */
function gracePeriodSeconds({ spec, status }: Pod, requested: number | undefined): number {
  if ((spec?.nodeName ?? '') === '' || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0
  const period = requested ?? spec?.terminationGracePeriodSeconds ?? 0
  return period < 0 ? 1 : period
}

export const pod = defineResource<Pod>({
  group: '',
  kind: 'Pod',
  resource: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate: validateNewPod,
  validateUpdate: validatePodChange,
  checks: { update: ['metadataChange', 'metadata', 'ownChange'] },
  // Pods change often and seldom by hand, so that only new ones are looked at.
  warnings: (object, old, { identity }) => (old === undefined ? podWarnings(object, '', identity) : []),
  deleteReturnsObject: true,
  gracePeriodSeconds,
  resetFields: ['status'],
  selectableFields: {
    'spec.host': ({ spec }) => spec?.nodeName ?? '',
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec?.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec?.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName ?? '',
    'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
    'status.phase': ({ status }) => status?.phase ?? '',
    'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? '',
    // Accepted, and never set.
    'status.podIPs': () => '',
  },
  subresources: [
    attachSubresource,
    bindingSubresource,
    {
      name: 'ephemeralcontainers',
      hasNoTable: true,
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareDebugging,
      validateUpdate: validateDebugging,
      resetFields: ['status'],
    },
    evictionSubresource,
    execSubresource,
    logSubresource,
    portForwardSubresource,
    proxySubresource('proxyToPod', podProxyOptions),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareStatus,
      validateUpdate: validatePodStatus,
      resetFields: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
    },
  ],
  table: { columns: podColumns, cells: podCells, conditions: podRowConditions },
})
