// Pod: defaults, subresources (eviction, exec, attach, log, port forward, proxy, binding, ephemeral containers, status), grace period.

import { defineAction, defineConnection } from '../../../api/definition/define-virtual.js'
import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import { withMetadata } from '../../../api/object.js'
import { dnsSubdomainProblems } from '../../../api/validation/checks.js'
import { eviction as evictionSchema } from '../../policy/v1.schema.js'
import { statusSubresource } from '../../status-subresource.js'
import { withoutGatedFields } from '../pod-spec/feature-gated-fields.js'
import { withoutInitAnnotations } from '../pod-spec/pod-annotations.js'
import { withPodDefaults } from '../pod-spec/pod-spec-defaults.js'
import { podWarnings } from '../pod-spec/pod-warnings.js'
import { containerSeccompPrefix, podSeccompKey, profileOfAnnotation } from '../pod-spec/security-context.js'
import { mapContainers } from '../pod-spec/visit-containers.js'
import { proxySubresource } from '../service/service-endpoint-address.js'
import {
  type Pod,
  type PodSpec,
  podAttachOptions,
  podExecOptions,
  podLogOptions,
  podPortForwardOptions,
  podProxyOptions,
  pod as podSchema,
} from '../v1.schema.js'
import { bindingSubresource } from './binding.js'
import { podCells, podColumns, podRowConditions } from './pod-printer-columns.js'
import {
  validateEphemeralContainersUpdate,
  validateNewPod,
  validatePodChange,
  validatePodStatus,
  withAddresses,
} from './pod-update-validation.js'
import { qosClassOf } from './qos-class.js'

const evictionSubresource = defineAction({
  name: 'eviction',
  action: 'evict',
  body: { kind: 'Eviction', group: 'policy', version: 'v1', alsoVersions: ['v1beta1'], schema: evictionSchema },
})

const attachSubresource = defineConnection({ name: 'attach', connection: 'attach', query: podAttachOptions })
const execSubresource = defineConnection({ name: 'exec', connection: 'exec', query: podExecOptions })
const portForwardSubresource = defineConnection({ name: 'portforward', connection: 'portforward', query: podPortForwardOptions })

/** Discovery lists the kind Pod; nodes serve the log. */
const logSubresource = defineConnection({ name: 'log', connection: 'log', kind: 'Pod', verbs: ['get'], query: podLogOptions })

function defaults(sent: Pod, { identity }: RuleContext): Pod {
  const pod = withoutInitAnnotations(sent, identity)
  const spec = withPodDefaults(pod.spec ?? {})
  const status = pod.status === undefined ? undefined : withAddresses(pod.status)
  if (spec === pod.spec && status === pod.status) return pod
  return { ...pod, spec, ...(status === undefined ? {} : { status }) }
}

function prepareCreate(pod: Pod, context: RuleContext): Pod {
  const spec = withSeccompFields(withoutGatedFields(pod.spec ?? {}, undefined, context.gates), pod, context)
  const gatedStatus = spec.schedulingGates === undefined ? {} : { conditions: [gatedCondition] }
  return { ...pod, spec, status: { phase: 'Pending', ...gatedStatus, qosClass: qosClassOf(spec) } }
}

const gatedCondition = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
}

/** Copies seccomp annotations of old clients into fields. */
function withSeccompFields(spec: PodSpec, { metadata }: Pod, { identity }: RuleContext): PodSpec {
  const annotations = metadata?.annotations
  if (annotations === undefined) return spec
  const profileOf = (key: string) => (annotations[key] === undefined ? undefined : profileOfAnnotation(annotations[key]))
  const podProfile = spec.securityContext?.seccompProfile === undefined ? profileOf(podSeccompKey(identity)) : undefined
  const next = podProfile === undefined ? spec : { ...spec, securityContext: { ...spec.securityContext, seccompProfile: podProfile } }
  return mapContainers(next, (container) => {
    const containerProfile = profileOf(`${containerSeccompPrefix(identity)}${container.name ?? ''}`)
    if (containerProfile === undefined || container.securityContext?.seccompProfile !== undefined) return container
    return { ...container, securityContext: { ...container.securityContext, seccompProfile: containerProfile } }
  })
}

const withStatusOf = (next: Pod, old: Pod): Pod => (next.status === old.status ? next : { ...next, status: old.status ?? {} })

const prepareUpdate = (next: Pod, old: Pod, { gates }: RuleContext): Pod => ({
  ...withStatusOf(next, old),
  spec: withoutGatedFields(next.spec ?? {}, old.spec, gates),
})

/** Status updates keep ownerReferences, which old kubelets report wrong, and the deletion timestamp. */
const prepareStatus = (next: Pod, old: Pod): Pod => ({
  ...withMetadata(next, { ownerReferences: old.metadata?.ownerReferences, deletionTimestamp: old.metadata?.deletionTimestamp }),
  spec: old.spec ?? {},
})

/** Changes only ephemeral containers of the old pod; managedFields stay unchanged, too, as in kube-apiserver. */
function prepareEphemeralContainers(next: Pod, old: Pod): Pod {
  const { resourceVersion, uid } = next.metadata ?? {}
  const { ephemeralContainers } = next.spec ?? {}
  const { ephemeralContainers: _, ...rest } = old.spec ?? {}
  return {
    ...withMetadata(old, { resourceVersion, uid }),
    spec: ephemeralContainers === undefined ? rest : { ...rest, ephemeralContainers },
  }
}

/** Pods that were never scheduled or have ended are deleted immediately. */
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
  versions: [{ name: 'v1', schema: podSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate: validateNewPod,
  validateUpdate: validatePodChange,
  checks: { update: ['metadataChange', 'metadata', 'validateUpdate'] },
  // Warns about new pods only.
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
    // Can be selected, but is always empty, as in kube-apiserver.
    'status.podIPs': () => '',
  },
  subresources: [
    attachSubresource,
    bindingSubresource,
    {
      name: 'ephemeralcontainers',
      hasNoTable: true,
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareEphemeralContainers,
      validateUpdate: validateEphemeralContainersUpdate,
      resetFields: ['status'],
    },
    evictionSubresource,
    execSubresource,
    logSubresource,
    portForwardSubresource,
    proxySubresource('proxyToPod', podProxyOptions),
    statusSubresource<Pod>({
      prepareUpdate: prepareStatus,
      validateUpdate: validatePodStatus,
      resetFields: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
    }),
  ],
  table: { columns: podColumns, cells: podCells, conditions: podRowConditions },
})
