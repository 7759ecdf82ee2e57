// Persistent volume binder: binds claims and volumes, provisions volumes of the built-in class, reclaims released volumes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { everything } from '../../../objects/list/selection.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type SourceEvent } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { addressOfKey, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import type { VolumeContext, VolumeResources } from './bind-volume.js'
import { endRecycling, recyclerPods } from './recycle-volume.js'
import { ensureClass, isDefaultClass } from './storage-classes.js'
import { syncClaim } from './sync-claim.js'
import { syncVolume } from './sync-volume.js'
import { classNameOf } from './volume-annotations.js'

/** Keys: `claim/<namespace>/<name>`, `volume/<name>`, `pending/<class>`, and the one that creates the built-in class. */
const builtInClassKey = 'class'

export const persistentVolumeBinder = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'persistent-volume-binder', 'persistentvolume-controller')
  const recycling: VolumeContext['recycling'] = new Map()
  let hasClass = false
  return new KeyedController(parts, {
    name: 'persistentvolume-binder',
    // One at a time: two runs would choose the same volume.
    concurrency: 1,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog, parts)
      if (resources === undefined) return []
      const { claims, volumes, classes } = resources
      return [
        { resource: claims, namespace: '', keyOf: (stored, type) => keysOfClaim(resources, stored, type) },
        { resource: volumes, namespace: '', keyOf: (stored, type, previous) => keysOfVolume(parts, resources, { stored, type, previous }) },
        { resource: classes, namespace: '', keyOf: (stored, type) => keysOfClass(parts, resources, stored, type) },
        recyclerPods(resources),
        // A namespace that every server has, to queue the key at the start.
        {
          resource: resources.namespaces,
          namespace: '',
          keyOf: ({ key }) => (partsOf(resources.namespaces, key).name === 'default' ? builtInClassKey : undefined),
        },
      ]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current, parts)
      if (resources === undefined) return undefined
      const context = { parts, writer, resources, run, recycling }
      if (key === builtInClassKey) {
        if (!hasClass) await ensureClass(parts, writer, resources.classes)
        hasClass = true
        return undefined
      }
      const slash = key.indexOf('/')
      const name = key.slice(slash + 1)
      switch (key.slice(0, slash)) {
        case 'claim':
          return reconcileClaim(context, name)
        case 'volume':
          return reconcileVolume(context, name)
        default:
          return reconcilePending(context, name)
      }
    },
  })
}

function resourcesIn(
  catalog: Catalog,
  { engine: { identity } }: WorkloadParts,
): (VolumeResources & { readonly namespaces: VolumeResources['pods'] }) | undefined {
  const [claims, volumes, pods, nodes, namespaces] = ['persistentvolumeclaims', 'persistentvolumes', 'pods', 'nodes', 'namespaces'].map(
    (plural) => catalog.find('', 'v1', plural),
  )
  const classes = catalog.find(identity.group({ stem: 'storage' }), 'v1', 'storageclasses')
  if (
    claims === undefined ||
    volumes === undefined ||
    pods === undefined ||
    nodes === undefined ||
    namespaces === undefined ||
    classes === undefined
  )
    return undefined
  return { claims, volumes, pods, nodes, namespaces, classes }
}

/** The deletion of a claim releases its volume. */
function keysOfClaim({ claims }: VolumeResources, stored: StoredObject, type: SourceEvent): string | undefined {
  const { namespace, name } = partsOf(claims, stored.key)
  if (type !== 'DELETED') return `claim/${namespace}/${name}`
  const { volumeName = '' } = (stored.decode(claims) as PersistentVolumeClaim).spec ?? {}
  return volumeName === '' ? undefined : `volume/${volumeName}`
}

interface VolumeChange {
  readonly stored: StoredObject
  readonly type: SourceEvent
  readonly previous: StoredObject | undefined
}

function keysOfVolume(
  { engine }: WorkloadParts,
  { volumes }: VolumeResources,
  { stored, type, previous }: VolumeChange,
): readonly string[] {
  const volume = stored.decode(volumes) as PersistentVolume
  const { claimRef } = volume.spec ?? {}
  const wasAvailable = (previous?.decode(volumes) as PersistentVolume | undefined)?.status?.phase === 'Available'
  const isFree = type !== 'DELETED' && type !== 'LISTED' && !wasAvailable && volume.status?.phase === 'Available' && claimRef === undefined
  return [
    `volume/${volume.metadata?.name}`,
    ...(claimRef === undefined ? [] : [`claim/${claimRef.namespace}/${claimRef.name}`]),
    ...(isFree ? [`pending/${classNameOf(engine.identity, volume)}`] : []),
  ]
}

function keysOfClass({ engine }: WorkloadParts, { classes }: VolumeResources, stored: StoredObject, type: SourceEvent): readonly string[] {
  if (type === 'DELETED' || type === 'LISTED') return []
  const isDefault = isDefaultClass(engine.identity, stored.decode(classes) as StorageClass)
  return [`pending/${partsOf(classes, stored.key).name}`, ...(isDefault ? ['pending/'] : [])]
}

async function reconcileClaim(context: VolumeContext, name: string): Promise<Outcome> {
  const claim = readObject<PersistentVolumeClaim>(context.parts, addressOfKey(context.resources.claims, name))
  return claim === undefined ? undefined : syncClaim(context, claim)
}

async function reconcileVolume(context: VolumeContext, name: string): Promise<Outcome> {
  const { parts, resources } = context
  const volume = readObject<PersistentVolume>(parts, { resource: resources.volumes, namespace: '', name })
  await endRecycling(context, name, volume?.metadata?.uid)
  return volume === undefined ? undefined : syncVolume(context, volume)
}

const pendingText = Buffer.from('"Pending"')

/** Claims of a class that wait for a volume; their own keys check them again later. */
async function reconcilePending(context: VolumeContext, className: string): Promise<undefined> {
  const { parts, resources, run } = context
  const { claims } = resources
  const waiting: string[] = []
  for (const stored of parts.engine.store.readInSteps({ resource: claims, namespace: '', selection: everything })) {
    await run.budget.yieldIfSpent()
    if (stored?.entry.value.includes(pendingText) !== true) continue
    const claim = stored.decode(claims) as PersistentVolumeClaim
    if (claim.status?.phase === 'Pending' && classNameOf(parts.engine.identity, claim) === className)
      waiting.push(`${claim.metadata?.namespace}/${claim.metadata?.name}`)
  }
  for (const key of waiting) await reconcileClaim(context, key)
  return undefined
}
