// Resource claim controller: claims of the templates that pods name, and reservations of pods that ended.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Pod, PodResourceClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ResourceClaim, ResourceClaimTemplate } from '@cluster-apiserver/api/resources/resource/v1alpha1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { isFinishedPod } from '../kit/pod-state.js'
import {
  addressOfKey,
  controllerRefOf,
  isTerminating,
  newControllerRef,
  readObject,
  type WorkloadParts,
  workloadBackOff,
} from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'

const claimsText = Buffer.from('"resourceClaims"')

/** Keys: `pod/<namespace>/<name>` and `claim/<namespace>/<name>`. Without the gate DynamicResourceAllocation claims are not served. */
export const resourceClaims = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'resource-claim-controller', 'resource_claim')
  return new KeyedController(parts, {
    name: 'resource_claim',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog, parts)
      if (resources === undefined) return []
      const { pods, claims } = resources
      return [
        {
          resource: pods,
          namespace: '',
          matches: ({ entry }) => entry.value.includes(claimsText),
          keyOf: (stored, type) => {
            const { namespace, name } = partsOf(pods, stored.key)
            const pod = stored.decode(pods) as Pod
            const names =
              type === 'DELETED' || hasEnded(pod) ? (pod.spec?.resourceClaims ?? []).map((claim) => claimNameOf(pod, claim)) : []
            return [...(type === 'DELETED' ? [] : [`pod/${namespace}/${name}`]), ...names.map((claim) => `claim/${namespace}/${claim}`)]
          },
        },
        {
          resource: claims,
          namespace: '',
          keyOf: (stored, type) => {
            const { namespace, name } = partsOf(claims, stored.key)
            if (type !== 'DELETED') return `claim/${namespace}/${name}`
            const owner = controllerRefOf(stored.decode(claims))
            return owner?.kind === pods.kind ? `pod/${namespace}/${owner.name}` : undefined
          },
        },
      ]
    },
    work: async (key) => {
      const resources = resourcesIn(parts.catalogs.current, parts)
      if (resources === undefined) return undefined
      const slash = key.indexOf('/')
      const name = key.slice(slash + 1)
      if (key.slice(0, slash) === 'pod') await syncPod(parts, writer, { resources, name })
      else await syncReservations(parts, writer, { resources, name })
      return undefined
    },
  })
}

interface Resources {
  readonly pods: Resource
  readonly claims: Resource
  readonly templates: Resource
}

function resourcesIn(catalog: Catalog, { engine: { identity } }: WorkloadParts): Resources | undefined {
  const group = identity.group({ stem: 'resource' })
  const pods = catalog.find('', 'v1', 'pods')
  const claims = catalog.find(group, 'v1alpha1', 'resourceclaims')
  const templates = catalog.find(group, 'v1alpha1', 'resourceclaimtemplates')
  return pods === undefined || claims === undefined || templates === undefined ? undefined : { pods, claims, templates }
}

interface Target {
  readonly resources: Resources
  readonly name: string
}

const claimNameOf = ({ metadata }: Pod, { name, source }: PodResourceClaim): string =>
  source?.resourceClaimName ?? `${metadata?.name}-${name}`

/** A pod that ended, or that is deleted before it was scheduled, uses no resources. */
const hasEnded = (pod: Pod): boolean => isFinishedPod(pod) || (isTerminating(pod) && (pod.spec?.nodeName ?? '') === '')

async function syncPod(parts: WorkloadParts, writer: Writer, { resources, name }: Target): Promise<void> {
  const pod = readObject<Pod>(parts, addressOfKey(resources.pods, name))
  if (pod === undefined || isTerminating(pod) || isFinishedPod(pod)) return
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    if (podClaim.source?.resourceClaimTemplateName === undefined) continue
    try {
      await ensureClaim(parts, writer, { resources, pod, podClaim })
    } catch (thrown) {
      if (isNamespaceTerminating(thrown)) return
      await writer.event(resources.pods, pod, {
        type: 'Warning',
        reason: 'FailedResourceClaimCreation',
        message: `PodResourceClaim ${podClaim.name}: ${errorMessage(thrown)}`,
      })
      throw thrown
    }
  }
}

interface WantedClaim {
  readonly resources: Resources
  readonly pod: Pod
  readonly podClaim: PodResourceClaim
}

async function ensureClaim(parts: WorkloadParts, writer: Writer, { resources, pod, podClaim }: WantedClaim): Promise<void> {
  const { namespace = '', name: podName = '', uid } = pod.metadata ?? {}
  const name = claimNameOf(pod, podClaim)
  const found = readObject<ResourceClaim>(parts, { resource: resources.claims, namespace, name })
  if (found !== undefined) {
    if (controllerRefOf(found)?.uid === uid) return
    throw new Error(`ResourceClaim ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`)
  }
  const templateName = podClaim.source?.resourceClaimTemplateName ?? ''
  const template = readObject<ResourceClaimTemplate>(parts, { resource: resources.templates, namespace, name: templateName })
  if (template === undefined)
    throw new Error(
      `resource claim template "${templateName}": resourceclaimtemplate.${resources.templates.group} "${templateName}" not found`,
    )
  const { metadata, spec } = template.spec ?? {}
  const { labels, annotations } = metadata ?? {}
  await writer.create(resources.claims, {
    metadata: {
      name,
      namespace,
      ownerReferences: [newControllerRef(pod, resources.pods)],
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec,
  } as ResourceClaim)
}

/** Removes the reservations of pods that were deleted or have ended. */
async function syncReservations(parts: WorkloadParts, writer: Writer, { resources, name }: Target): Promise<void> {
  const claim = readObject<ResourceClaim>(parts, addressOfKey(resources.claims, name))
  const before = claim?.status?.reservedFor ?? []
  if (claim === undefined || before.length === 0) return
  const namespace = claim.metadata?.namespace ?? ''
  const reservedFor = before.filter((consumer) => {
    if ((consumer.apiGroup ?? '') !== '' || consumer.resource !== 'pods') return true
    const pod = readObject<Pod>(parts, { resource: resources.pods, namespace, name: consumer.name ?? '' })
    return pod !== undefined && pod.metadata?.uid === consumer.uid && !hasEnded(pod)
  })
  if (reservedFor.length === before.length) return
  await writer.update(resources.claims, { ...claim, status: { ...claim.status, reservedFor } } as ResourceClaim, 'status')
}
