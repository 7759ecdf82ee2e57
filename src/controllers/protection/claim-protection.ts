// A claim that is deleted stays as long as a pod that was given to a node uses it.

import type { Catalog, Resource } from '../../api/catalog.js'
import { nowOrInPieces } from '../../base/pieces.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { Pod } from '../../resources/core/v1.schema.js'
import { KeyedLoop, type LoopParts, type Run, type Seen } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { graceMs, protect, release } from './release-finalizer.js'

/** A pod that says neither uses no claim. */
const words = ['"persistentVolumeClaim"', '"ephemeral"'].map((word) => Buffer.from(word))
/** The name of no claim: all of a namespace that are being deleted. */
const all = ''

export const claimProtection = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'pvcprotection',
    sources: (catalog) => {
      const { claims, pods } = kindsOf(catalog)
      if (claims === undefined || pods === undefined) return []
      const keyOfClaim = ({ key }: StoredObject, seen: Seen) => {
        const { namespace, name } = partsOf(claims, key)
        return seen === 'DELETED' ? undefined : { key: `${namespace}/${name}`, afterMs: graceMs }
      }
      return [
        { resource: claims, namespace: '', keyOf: keyOfClaim },
        {
          resource: pods,
          namespace: '',
          onlyChanges: true,
          matches: ({ entry }) => words.some((word) => entry.value.includes(word)),
          keyOf: ({ key }, seen) => (seen === 'DELETED' ? { key: `${partsOf(pods, key).namespace}/${all}`, afterMs: 50 } : undefined),
        },
      ]
    },
    work: async (key, run) => {
      const [namespace = '', name = ''] = key.split('/')
      for (const each of name === all ? await goingIn(parts, namespace, run) : [name])
        await reconcile(parts, { namespace, name: each, run })
      return undefined
    },
  })

const kindsOf = (catalog: Catalog): { readonly claims: Resource | undefined; readonly pods: Resource | undefined } => ({
  claims: catalog.find('', 'v1', 'persistentvolumeclaims'),
  pods: catalog.find('', 'v1', 'pods'),
})

const mark = Buffer.from('"deletionTimestamp"')

async function goingIn({ engine, catalogs }: LoopParts, namespace: string, run: Run): Promise<readonly string[]> {
  const { claims } = kindsOf(catalogs.current)
  if (claims === undefined) return []
  const names: string[] = []
  await nowOrInPieces(
    (function* (): Generator<undefined, void, void> {
      for (const stored of engine.store.look({ resource: claims, namespace, selection: everything })) {
        if (stored === undefined) yield undefined
        else if (stored.entry.value.includes(mark)) names.push(partsOf(claims, stored.key).name)
      }
    })(),
    run.pieces,
  )
  return names
}

interface Claim {
  readonly namespace: string
  readonly name: string
  readonly run: Run
}

async function reconcile({ engine, catalogs }: LoopParts, { namespace, name, run }: Claim): Promise<void> {
  const { claims: resource, pods } = kindsOf(catalogs.current)
  if (resource === undefined || pods === undefined) return
  const address = { resource, namespace, name }
  const stored = engine.store.read(address)
  if (stored === undefined) return
  const { metadata } = leanObject(stored, resource)
  const one = { address, metadata, finalizer: engine.identity.label('pvc-protection') }
  if (metadata?.deletionTimestamp === undefined) {
    await protect(engine, one)
    return
  }
  // Pods that another server made are seen before anything is let go.
  const upToDate = engine.store.readIndex()
  if (upToDate instanceof Promise) await upToDate
  const owned = { name, isOwnedBy: ownersOf(metadata.ownerReferences ?? []) }
  if (!(await nowOrInPieces(findUser(engine.store.look({ resource: pods, namespace, selection: everything }), pods, owned), run.pieces)))
    await release(engine, one)
}

const ownersOf = (references: readonly { readonly uid?: string; readonly controller?: boolean }[]): ((uid: string) => boolean) => {
  const uids = references.filter(({ controller }) => controller === true).map(({ uid }) => uid)
  return (uid) => uids.includes(uid)
}

interface Wanted {
  readonly name: string
  readonly isOwnedBy: (uid: string) => boolean
}

function* findUser(steps: Iterable<StoredObject | undefined>, pods: Resource, claim: Wanted): Generator<undefined, boolean, void> {
  for (const stored of steps) {
    const isNamed = stored !== undefined && words.some((word) => stored.entry.value.includes(word))
    if (isNamed && uses(leanObject(stored, pods) as Pod, claim)) return true
    yield undefined
  }
  return false
}

/** One that was given to no node does not use it yet, and will not be started with a claim that goes. */
function uses({ metadata, spec }: Pod, { name, isOwnedBy }: Wanted): boolean {
  if ((spec?.nodeName ?? '') === '') return false
  const isShutDown = metadata?.deletionTimestamp !== undefined && Number(metadata.deletionGracePeriodSeconds ?? 0) === 0
  return (spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === name ||
      (!isShutDown && volume.ephemeral !== undefined && `${metadata?.name}-${volume.name}` === name && isOwnedBy(metadata?.uid ?? '')),
  )
}
