// Ephemeral volume controller: a claim for each generic ephemeral volume of a pod, which owns it.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { PersistentVolumeClaim, Pod, Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Controller } from '../../leader-election/leader-election.js'
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

const ephemeralText = Buffer.from('"ephemeral"')

export const ephemeralVolumes = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'ephemeral-volume-controller', 'ephemeral_volume')
  return new KeyedController(parts, {
    name: 'ephemeral_volume',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog)
      if (resources === undefined) return []
      const { pods, claims } = resources
      return [
        {
          resource: pods,
          namespace: '',
          matches: ({ entry }) => entry.value.includes(ephemeralText),
          // The volumes of a pod do not change.
          keyOf: ({ key }, type) => {
            const { namespace, name } = partsOf(pods, key)
            return type === 'ADDED' || type === 'LISTED' ? `${namespace}/${name}` : undefined
          },
        },
        {
          resource: claims,
          namespace: '',
          onlyChanges: true,
          keyOf: ({ key }, type) => (type === 'DELETED' ? podsOfClaim(parts, pods, partsOf(claims, key)) : undefined),
        },
      ]
    },
    work: async (key) => {
      const resources = resourcesIn(parts.catalogs.current)
      const pod = resources === undefined ? undefined : readObject<Pod>(parts, addressOfKey(resources.pods, key))
      if (resources === undefined || pod === undefined || isTerminating(pod)) return undefined
      for (const volume of pod.spec?.volumes ?? [])
        if (volume.ephemeral !== undefined) await ensureClaim(parts, writer, { resources, pod, volume })
      return undefined
    },
  })
}

interface Resources {
  readonly pods: Resource
  readonly claims: Resource
}

function resourcesIn(catalog: Catalog): Resources | undefined {
  const pods = catalog.find('', 'v1', 'pods')
  const claims = catalog.find('', 'v1', 'persistentvolumeclaims')
  return pods === undefined || claims === undefined ? undefined : { pods, claims }
}

/** Keys of existing pods that may use a claim with this name, `<pod>-<volume>`, also if another client created it. */
const podsOfClaim = (
  { engine }: WorkloadParts,
  resource: Resource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly string[] =>
  Array.from(name.matchAll(/-/g), ({ index }) => name.slice(0, index))
    .filter((pod) => engine.store.read({ resource, namespace, name: pod }) !== undefined)
    .map((pod) => `${namespace}/${pod}`)

interface EphemeralVolume {
  readonly resources: Resources
  readonly pod: Pod
  readonly volume: Volume
}

async function ensureClaim(
  parts: WorkloadParts,
  writer: Writer,
  { resources: { pods, claims }, pod, volume }: EphemeralVolume,
): Promise<void> {
  const { namespace = '', name: podName = '' } = pod.metadata ?? {}
  const name = `${podName}-${volume.name}`
  try {
    const found = readObject<PersistentVolumeClaim>(parts, { resource: claims, namespace, name })
    if (found === undefined) await createClaim(writer, { pods, claims }, { pod, volume, name })
    else if (controllerRefOf(found)?.uid !== pod.metadata?.uid)
      throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`)
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) return
    await writer.event(pods, pod, {
      type: 'Warning',
      reason: 'FailedBinding',
      message: `ephemeral volume ${volume.name}: ${errorMessage(thrown)}`,
    })
    throw thrown
  }
}

async function createClaim(
  writer: Writer,
  { pods, claims }: Resources,
  { pod, volume, name }: { readonly pod: Pod; readonly volume: Volume; readonly name: string },
): Promise<void> {
  const { metadata, spec } = volume.ephemeral?.volumeClaimTemplate ?? {}
  const { labels, annotations } = metadata ?? {}
  try {
    await writer.create(claims, {
      metadata: {
        name,
        namespace: pod.metadata?.namespace,
        ownerReferences: [newControllerRef(pod, pods)],
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      },
      spec,
    } as PersistentVolumeClaim)
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) throw thrown
    throw new Error(`create PVC ${name}: ${errorMessage(thrown)}`)
  }
}
