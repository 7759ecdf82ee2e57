// PV and PVC protection: finalizers keep a deleted claim while a scheduled pod uses it, and a deleted volume while it is bound.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { PersistentVolume, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { everything } from '../objects/list/selection.js'
import { partsOf } from '../objects/object-keys.js'
import type { ObjectAddress } from '../objects/object-store.js'
import type { Engine } from '../verbs/engine.js'
import { type ControllerParts, KeyedController, type Run, type SourceEvent } from './framework/controller.js'
import { ignoreErrors, internalPatch, notFoundCodes } from './framework/internal-call.js'
import type { Controller } from './leader-election/leader-election.js'

interface ProtectedObject {
  readonly address: ObjectAddress
  readonly metadata: ApiObject['metadata']
  readonly finalizer: string
}

/** Delay after a change of a claim or volume: clients often make several changes in a row. */
const graceMs = 500

async function protect(engine: Engine, { address, metadata, finalizer }: ProtectedObject): Promise<void> {
  const { finalizers = [] } = metadata ?? {}
  if (!finalizers.includes(finalizer)) await writeFinalizers(engine, { address, metadata, finalizers: [...finalizers, finalizer] })
}

async function release(engine: Engine, { address, metadata, finalizer }: ProtectedObject): Promise<void> {
  const { finalizers = [] } = metadata ?? {}
  if (!finalizers.includes(finalizer)) return
  await writeFinalizers(engine, { address, metadata, finalizers: finalizers.filter((name) => name !== finalizer) })
}

interface FinalizerUpdate extends Pick<ProtectedObject, 'address' | 'metadata'> {
  readonly finalizers: readonly string[]
}

async function writeFinalizers(engine: Engine, { address, metadata, finalizers }: FinalizerUpdate): Promise<void> {
  const { uid = '', resourceVersion = '' } = metadata ?? {}
  await ignoreErrors(notFoundCodes, internalPatch(engine, address, { metadata: { uid, resourceVersion, finalizers } }))
}

const volumeFields = ['"persistentVolumeClaim"', '"ephemeral"'].map((field) => Buffer.from(field))
const allClaims = ''

export const claimProtection = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'pvcprotection',
    sources: (catalog) => {
      const { claims, pods } = resourcesOf(catalog)
      if (claims === undefined || pods === undefined) return []
      const keyOfClaim = ({ key }: StoredObject, eventType: SourceEvent) => {
        const { namespace, name } = partsOf(claims, key)
        return eventType === 'DELETED' ? undefined : { key: `${namespace}/${name}`, afterMs: graceMs }
      }
      return [
        { resource: claims, namespace: '', keyOf: keyOfClaim },
        {
          resource: pods,
          namespace: '',
          onlyChanges: true,
          matches: ({ entry }) => volumeFields.some((field) => entry.value.includes(field)),
          keyOf: ({ key }, eventType) =>
            eventType === 'DELETED' ? { key: `${partsOf(pods, key).namespace}/${allClaims}`, afterMs: 50 } : undefined,
        },
      ]
    },
    work: async (key, run) => {
      const [namespace = '', name = ''] = key.split('/')
      for (const each of name === allClaims ? await terminatingClaims(parts, namespace, run) : [name])
        await reconcileClaim(parts, { namespace, name: each, run })
      return undefined
    },
  })

const resourcesOf = (catalog: Catalog): { readonly claims: Resource | undefined; readonly pods: Resource | undefined } => ({
  claims: catalog.find('', 'v1', 'persistentvolumeclaims'),
  pods: catalog.find('', 'v1', 'pods'),
})

const deletionField = Buffer.from('"deletionTimestamp"')

async function terminatingClaims({ engine, catalogs }: ControllerParts, namespace: string, run: Run): Promise<readonly string[]> {
  const { claims } = resourcesOf(catalogs.current)
  if (claims === undefined) return []
  const names: string[] = []
  for (const stored of engine.store.readInSteps({ resource: claims, namespace, selection: everything })) {
    if (stored?.entry.value.includes(deletionField) === true) names.push(partsOf(claims, stored.key).name)
    await run.budget.yieldIfSpent()
  }
  return names
}

interface Claim {
  readonly namespace: string
  readonly name: string
  readonly run: Run
}

async function reconcileClaim({ engine, catalogs }: ControllerParts, { namespace, name, run }: Claim): Promise<void> {
  const { claims: resource, pods } = resourcesOf(catalogs.current)
  if (resource === undefined || pods === undefined) return
  const address = { resource, namespace, name }
  const stored = engine.store.read(address)
  if (stored === undefined) return
  const { metadata } = stored.decode(resource)
  const target = { address, metadata, finalizer: engine.identity.label('pvc-protection') }
  if (metadata?.deletionTimestamp === undefined) {
    await protect(engine, target)
    return
  }
  // Wait for pods that another replica has created.
  await engine.store.readIndex()
  const claim = { name, isOwnedBy: isControllerAmong(metadata.ownerReferences ?? []) }
  for (const pod of engine.store.readInSteps({ resource: pods, namespace, selection: everything })) {
    const mayUseClaims = pod !== undefined && volumeFields.some((field) => pod.entry.value.includes(field))
    if (mayUseClaims && usesClaim(pod.decode(pods) as Pod, claim)) return
    await run.budget.yieldIfSpent()
  }
  await release(engine, target)
}

const isControllerAmong = (references: readonly { readonly uid?: string; readonly controller?: boolean }[]): ((uid: string) => boolean) => {
  const uids = references.filter(({ controller }) => controller === true).map(({ uid }) => uid)
  return (uid) => uids.includes(uid)
}

interface SearchedClaim {
  readonly name: string
  readonly isOwnedBy: (uid: string) => boolean
}

/** An unscheduled pod does not use the claim, and will not start with a terminating one. */
function usesClaim({ metadata, spec }: Pod, { name, isOwnedBy }: SearchedClaim): boolean {
  if ((spec?.nodeName ?? '') === '') return false
  const isShutDown = metadata?.deletionTimestamp !== undefined && Number(metadata.deletionGracePeriodSeconds ?? 0) === 0
  return (spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === name ||
      (!isShutDown && volume.ephemeral !== undefined && `${metadata?.name}-${volume.name}` === name && isOwnedBy(metadata?.uid ?? '')),
  )
}

export const volumeProtection = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'pvprotection',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'persistentvolumes')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: '',
          keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : { key: partsOf(resource, key).name, afterMs: graceMs }),
        },
      ]
    },
    work: async (name) => {
      await reconcileVolume(parts, name)
      return undefined
    },
  })

async function reconcileVolume({ engine, catalogs }: ControllerParts, name: string): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'persistentvolumes')
  if (resource === undefined) return
  const address = { resource, namespace: '', name }
  const stored = engine.store.read(address)
  if (stored === undefined) return
  const { metadata, status } = stored.decode(resource) as PersistentVolume
  const target = { address, metadata, finalizer: engine.identity.label('pv-protection') }
  if (metadata?.deletionTimestamp === undefined) await protect(engine, target)
  else if (status?.phase !== 'Bound') await release(engine, target)
}
