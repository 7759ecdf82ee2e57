// Deletes the contents of terminating namespaces, then removes their finalizer. All state is in the store, so another leader can continue.

import { unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { bytesOf } from '../../objects/entry/entry-header.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import { hasDeletionTimestamp } from '../../objects/owner-index.js'
import type { Engine } from '../../verbs/engine.js'
import { type ControllerParts, type DelayedKey, KeyedController, type Run } from '../framework/controller.js'
import { ignoreErrors, internalUpdate, notFoundCodes } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { discoveryFailureMessage, terminationConditions } from './namespace-conditions.js'
import { deleteContents, deleteOrphans, type Remaining } from './namespace-contents.js'
import type { DeleteRemoteContents } from './remote-namespace-contents.js'

interface NamespaceTimes {
  /** Delay after the deletion, in which writers can finish; longer than 500 ms, the age at which a create is admitted again. */
  readonly graceMs: number
  /** Delay of the check for late objects; longer than a commit can take. */
  readonly sweepMs: number
}

const defaultTimes: NamespaceTimes = { graceMs: 1000, sweepMs: 30_000 }

interface Namespace extends ApiObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string }
}

/** `deleteRemote`: deletes objects of extension API servers. `isShared`: another replica may have been the leader before. */
export const namespaceDeletion = (
  parts: ControllerParts,
  times = defaultTimes,
  deleteRemote?: DeleteRemoteContents,
  isShared = false,
): Controller =>
  new KeyedController(parts, {
    name: 'namespace',
    concurrency: 4,
    backOff: { firstMs: 200, maxMs: 10_000 },
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'namespaces')
      if (resource === undefined) return []
      const delayedKey = ({ key }: StoredObject, afterMs: number): DelayedKey => ({ key: partsOf(resource, key).name, afterMs })
      const isRelevant = (object: StoredObject): boolean =>
        hasDeletionTimestamp(bytesOf(object.entry)) && isTerminating(object.decode(resource), parts.engine.identity.self)
      return [
        {
          resource,
          namespace: '',
          replaysDeletions: isShared,
          keyOf: (object, eventType) => {
            // A commit that was checked before the deletion may arrive after it.
            if (eventType === 'DELETED') return delayedKey(object, times.sweepMs)
            return isRelevant(object) ? delayedKey(object, times.graceMs) : undefined
          },
        },
      ]
    },
    work: (name, run) => work({ ...parts, deleteRemote }, name, run),
  })

async function work({ engine, catalogs, deleteRemote }: Context, name: string, run: Run): Promise<Outcome> {
  const catalog = catalogs.current
  const resource = catalog.find('', 'v1', 'namespaces')
  if (resource === undefined) return undefined
  const namespaces = { engine, resource }
  const isDeleted = (): boolean => engine.store.read({ resource, namespace: '', name }) === undefined
  const collections = podsFirst(catalog.collections().filter(({ namespaced, verbs }) => namespaced && verbs.includes('deletecollection')))
  if (isDeleted()) {
    await deleteOrphans(engine, { name, collections, run, isDeleted })
    return undefined
  }
  const namespace = findTerminating(namespaces, name)
  if (namespace === undefined) return undefined
  // Another namespace may have the name after a while, or this one may have been restored.
  const uid = namespace.metadata?.uid
  const isStillTerminating = (): boolean => findTerminating(namespaces, name, uid) !== undefined
  const contents = await deleteContents(engine, { name, collections, run, isStillTerminating })
  if (contents === undefined) return undefined
  const remote = await deleteRemote?.(name, run.signal)
  if (run.signal.aborted || !isStillTerminating()) return undefined
  const undiscovered = remote?.undiscovered ?? unavailableVersions(engine, catalog)
  const remaining = {
    ...contents,
    objects: new Map([...contents.objects, ...(remote?.objects ?? [])]),
    failures: [...contents.failures, ...(remote?.failures ?? [])],
    undiscovered,
  }
  await writeConditions(namespaces, namespace, remaining)
  const [failure] = remaining.failures
  if (failure !== undefined) throw failure
  if (undiscovered.length > 0) throw unavailable(discoveryFailureMessage(undiscovered))
  if (remote !== undefined && remote.objects.size > 0) return 'again'
  // Objects with finalizers, or written by requests that were admitted before the deletion.
  if (collections.some((collection) => engine.store.count(collection, name) > 0)) return 'again'
  await removeFinalizer(namespaces, namespace)
  return undefined
}

interface Context extends ControllerParts {
  readonly deleteRemote: DeleteRemoteContents | undefined
}

/** Pods stop before the objects that they use are deleted. */
function podsFirst(collections: readonly Resource[]): readonly Resource[] {
  const isPods = ({ group, name }: Resource): boolean => group === '' && name === 'pods'
  return [...collections.filter(isPods), ...collections.filter((resource) => !isPods(resource))]
}

interface ApiServiceObject extends ApiObject {
  readonly spec?: { readonly group?: string; readonly version?: string; readonly service?: object }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

function unavailableVersions({ store, identity }: Engine, catalog: Catalog): readonly string[] {
  const resource = catalog.find(identity.group({ stem: 'apiregistration' }), 'v1', 'apiservices')
  if (resource === undefined) return []
  const versions: string[] = []
  for (const stored of store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()) {
    const { spec, status } = stored.decode(resource) as ApiServiceObject
    const isAvailable = status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True') ?? false
    if (spec?.service !== undefined && !isAvailable) versions.push(`${spec.group}/${spec.version}`)
  }
  return versions
}

interface Namespaces {
  readonly engine: Engine
  readonly resource: Resource
}

function findTerminating({ engine, resource }: Namespaces, name: string, uid?: string): Namespace | undefined {
  const stored = engine.store.read({ resource, namespace: '', name })
  if (stored === undefined || !hasDeletionTimestamp(bytesOf(stored.entry))) return undefined
  const namespace: Namespace = stored.decode(resource)
  if (!isTerminating(namespace, engine.identity.self)) return undefined
  return uid === undefined || namespace.metadata?.uid === uid ? namespace : undefined
}

async function writeConditions(
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
  await ignoreErrors(
    notFoundCodes,
    internalUpdate(engine, { resource, name, subresource: 'status' }, (object) => ({ ...object, status }) as ApiObject),
  )
}

async function removeFinalizer({ engine, resource }: Namespaces, { metadata: { name = '', uid } = {} }: Namespace): Promise<void> {
  const namespace = findTerminating({ engine, resource }, name, uid)
  if (namespace === undefined) return
  const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== engine.identity.self)
  const spec = { ...namespace.spec, finalizers }
  await ignoreErrors(
    notFoundCodes,
    internalUpdate(engine, { resource, name, subresource: 'finalize' }, (object) => ({ ...object, spec }) as ApiObject),
  )
}

function isTerminating(object: Namespace, finalizer: string): boolean {
  return object.metadata?.deletionTimestamp !== undefined && (object.spec?.finalizers ?? []).includes(finalizer)
}
