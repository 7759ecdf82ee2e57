// Namespaces that are being deleted empty themselves: all they hold is deleted, and when nothing is left they are let go.
//
// Progress is what is stored: objects that are gone, and what the namespace says of itself. Another server, or this one after a restart, goes on
// from there.

import { ApiError, unavailable } from '../api/api-error.js'
import type { Catalog, Resource } from '../api/catalog.js'
import { type ApiObject, members } from '../api/object.js'
import { bytesOf } from '../objects/entry-header.js'
import { partsOf } from '../objects/keys.js'
import { leanObject } from '../objects/lean-object.js'
import { isGoing } from '../objects/owner-fields.js'
import { everything } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Engine } from '../verbs/engine.js'
import type { DeleteElsewhere } from './aggregation/remote-contents.js'
import type { Outcome } from './kit/keyed-queue.js'
import { KeyedLoop, type Later, type LoopParts, type Run } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { discoveryProblem, terminationConditions } from './namespace-conditions.js'
import { deleteContents, deleteOrphans, type Remaining } from './namespace-contents.js'
import { updateOwn } from './own-write.js'

export interface NamespaceTimes {
  /** How long after its deletion a namespace is left as it is, so that whoever writes to it can finish: more than `lateMs` of verbs/create. */
  readonly graceMs: number
  /** How long after it is gone it is looked at once more: longer than a commit can take. */
  readonly sweepMs: number
}

const usualTimes: NamespaceTimes = { graceMs: 1000, sweepMs: 30_000 }

interface Namespace extends ApiObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string }
}

/**
 * `elsewhere`: what other servers hold in a namespace; left out: only whether they answer is known. `isShared`: another server may have led before, and
 * not have come to look again at what was just gone.
 */
export const namespaceDeletion = (parts: LoopParts, times = usualTimes, elsewhere?: DeleteElsewhere, isShared = false): Loop =>
  new KeyedLoop(parts, {
    name: 'namespace',
    concurrency: 4,
    backOff: { firstMs: 200, mostMs: 10_000 },
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'namespaces')
      if (resource === undefined) return []
      const later = ({ key }: StoredObject, afterMs: number): Later => ({ key: partsOf(resource, key).name, afterMs })
      const isConcerned = (object: StoredObject): boolean =>
        isGoing(bytesOf(object.entry)) && isTerminating(leanObject(object, resource), parts.engine.identity.self)
      return [
        {
          resource,
          namespace: '',
          pastRemovals: isShared,
          keyOf: (object, seen) => {
            // Whether it is still there is asked before a commit, which may take long, and arrive when it is gone.
            if (seen === 'DELETED') return later(object, times.sweepMs)
            return isConcerned(object) ? later(object, times.graceMs) : undefined
          },
        },
      ]
    },
    work: (name, run) => work({ ...parts, elsewhere }, name, run),
  })

async function work({ engine, catalogs, elsewhere }: Emptying, name: string, run: Run): Promise<Outcome> {
  const catalog = catalogs.current
  const resource = catalog.find('', 'v1', 'namespaces')
  if (resource === undefined) return undefined
  const namespaces = { engine, resource }
  const isGone = (): boolean => engine.store.read({ resource, namespace: '', name }) === undefined
  const collections = podsFirst(catalog.collections().filter(({ namespaced, verbs }) => namespaced && verbs.includes('deletecollection')))
  if (isGone()) {
    await deleteOrphans(engine, { name, collections, run, isGone })
    return undefined
  }
  const namespace = findTerminating(namespaces, name)
  if (namespace === undefined) return undefined
  // All of this may take long. Another namespace may have that name then, or this one may have been put back to what it was.
  const uid = namespace.metadata?.uid
  const isStill = (): boolean => findTerminating(namespaces, name, uid) !== undefined
  const contents = await deleteContents(engine, { name, collections, run, isStill })
  if (contents === undefined) return undefined
  const others = await elsewhere?.(name, run.signal)
  if (run.signal.aborted || !isStill()) return undefined
  const undiscovered = others?.undiscovered ?? unavailableVersions(engine, catalog)
  const remaining = {
    ...contents,
    objects: new Map([...contents.objects, ...(others?.objects ?? [])]),
    failures: [...contents.failures, ...(others?.failures ?? [])],
    undiscovered,
  }
  await reportProgress(namespaces, namespace, remaining)
  const [failure] = remaining.failures
  if (failure !== undefined) throw failure
  // What their servers hold in the namespace is not known.
  if (undiscovered.length > 0) throw unavailable(discoveryProblem(undiscovered))
  if (others !== undefined && others.objects.size > 0) return 'again'
  // What was written meanwhile was allowed before the namespace began to go.
  if (collections.some((collection) => engine.store.count(collection, name) > 0)) return 'again'
  await letGo(namespaces, namespace)
  return undefined
}

interface Emptying extends LoopParts {
  readonly elsewhere: DeleteElsewhere | undefined
}

/** Nobody works on what goes: pods stop before what they use is taken from them. */
function podsFirst(collections: readonly Resource[]): readonly Resource[] {
  const isPods = ({ group, name }: Resource): boolean => group === '' && name === 'pods'
  return [...collections.filter(isPods), ...collections.filter((resource) => !isPods(resource))]
}

interface ServedElsewhere extends ApiObject {
  readonly spec?: { readonly group?: string; readonly version?: string; readonly service?: object }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

/** The versions of groups that other servers serve, and which do not answer. */
function unavailableVersions({ store, identity }: Engine, catalog: Catalog): readonly string[] {
  const resource = catalog.find(identity.group({ stem: 'apiregistration' }), 'v1', 'apiservices')
  if (resource === undefined) return []
  const versions: string[] = []
  for (const stored of store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()) {
    const { spec, status } = leanObject(stored, resource) as ServedElsewhere
    const isAvailable = status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True') ?? false
    if (spec?.service !== undefined && !isAvailable) versions.push(`${spec.group}/${spec.version}`)
  }
  return versions
}

interface Namespaces {
  readonly engine: Engine
  readonly resource: Resource
}

/** As it is now, if it is being deleted, waits for this loop, and is the one with that uid. */
function findTerminating({ engine, resource }: Namespaces, name: string, uid?: string): Namespace | undefined {
  const stored = engine.store.read({ resource, namespace: '', name })
  if (stored === undefined || !isGoing(bytesOf(stored.entry))) return undefined
  const namespace: Namespace = leanObject(stored, resource)
  if (!isTerminating(namespace, engine.identity.self)) return undefined
  return uid === undefined || namespace.metadata?.uid === uid ? namespace : undefined
}

async function reportProgress(
  namespaces: Namespaces,
  { metadata: { name = '', uid } = {} }: Namespace,
  remaining: Remaining,
): Promise<void> {
  const { engine, resource } = namespaces
  const namespace = findTerminating(namespaces, name, uid)
  if (namespace === undefined) return
  const before = (members(namespace)['status'] as { conditions?: readonly never[] } | undefined)?.conditions ?? []
  const conditions = terminationConditions({ before, remaining, now: engine.clock.now() })
  if (conditions === before) return
  const status = { ...namespace.status, phase: 'Terminating', conditions }
  await unlessGone(updateOwn(engine, { resource, name, subresource: 'status' }, (object) => ({ ...object, status }) as ApiObject))
}

/** Takes the server's own finalizer away; others may still hold the namespace. */
async function letGo({ engine, resource }: Namespaces, { metadata: { name = '', uid } = {} }: Namespace): Promise<void> {
  const namespace = findTerminating({ engine, resource }, name, uid)
  if (namespace === undefined) return
  const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== engine.identity.self)
  const spec = { ...namespace.spec, finalizers }
  await unlessGone(updateOwn(engine, { resource, name, subresource: 'finalize' }, (object) => ({ ...object, spec }) as ApiObject))
}

function isTerminating(object: Namespace, own: string): boolean {
  return object.metadata?.deletionTimestamp !== undefined && (object.spec?.finalizers ?? []).includes(own)
}

/** A namespace that went away meanwhile needs no help; one that changed is looked at again in the next round. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
