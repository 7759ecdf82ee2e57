// Turns captured objects into storage rows: decoded by their schema, in the storage version, at their revision. No admission, no validation.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { mastersGroup } from '@cluster-apiserver/api/api/user.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { crdResource, isBuiltInGroup } from '../../../controllers/custom-resources/crd-catalog.js'
import { encodeStored } from '../../../objects/entry/stored-object.js'
import { keyOf, storageKeyOf } from '../../../objects/object-keys.js'
import { ownerUids } from '../../../objects/owner-index.js'
import { StartupError } from '../../../options/startup-error.js'
import { checkKey } from '../../../storage/collections.js'
import type { InitialRow, InitialRows } from '../../../storage/memory/memory-storage.js'
import type { Reserver } from '../../../verbs/reserve/reserver.js'
import { type Capture, type CapturedObject, listed, refuse, revisionOf } from './captured-object.js'
import { groupOf, indexKinds, type KindIndex, type KindVersion, kindKey } from './kind-index.js'

export interface ImportContext {
  readonly catalog: Catalog
  readonly gates: FeatureGates
  /** Milliseconds since 1970. */
  readonly now: number
  readonly eventTtlSeconds: number
  /** Their unique values, such as cluster IPs, are reserved for the captured objects. */
  readonly reservers: readonly Pick<Reserver, 'collection' | 'uniqueKeysOf'>[]
  readonly newUid: () => string
}

export interface Imported extends InitialRows {
  readonly rows: readonly InitialRow[]
  readonly warnings: readonly string[]
}

export async function importObjects(capture: Capture, context: ImportContext): Promise<Imported> {
  const importer = new ObjectImport(context)
  const isCrd = ({ kind, apiVersion }: CapturedObject): boolean => importer.isCrd(apiVersion, kind)
  for (const captured of capture.objects) if (isCrd(captured)) importer.add(captured)
  importer.serveCustomResources()
  for (const captured of capture.objects) {
    if (isCrd(captured)) continue
    importer.add(captured)
    await turnBudget.yieldIfSpent()
  }
  importer.addNamespaces()
  const { rows, revision } = await importer.rows(capture.revision)
  return { rows, revision, warnings: [...capture.warnings, ...importer.warnings()] }
}

/** Characters that JSON does not escape. */
const uidPattern = /^[\w.:/-]+$/

interface DecodedEntry {
  readonly captured: CapturedObject
  readonly kind: KindVersion
  /** In the version of the entry. */
  readonly object: ApiObject
  /** Undefined: the object gets a new one. */
  readonly revision: number | undefined
}

class ObjectImport {
  readonly #context: ImportContext
  readonly #crdCollection: string | undefined
  #kinds: KindIndex
  readonly #entries = new Map<string, DecodedEntry>()
  readonly #uids = new Set<string>()
  readonly #namespaces = new Set<string>()
  /** Number of objects by problem. */
  readonly #missingCrds = new Map<string, number>()
  readonly #unservedKinds = new Map<string, number>()
  readonly #unknownFields = new Map<string, number>()
  readonly #internalKeys: string[] = []
  readonly #createdNamespaces: string[] = []

  constructor(context: ImportContext) {
    this.#context = context
    this.#crdCollection = crdResource({ current: context.catalog })?.collection
    this.#kinds = indexKinds(context.catalog.all())
  }

  isCrd(apiVersion: string, kind: string): boolean {
    return kind === 'CustomResourceDefinition' && this.#kinds.get(kindKey(apiVersion, kind))?.resource.collection === this.#crdCollection
  }

  add(captured: CapturedObject): void {
    const { apiVersion, kind: kindName, origin, etcd } = captured
    const kind = this.#kinds.get(kindKey(apiVersion, kindName))
    if (kind === undefined) {
      this.#addUnknown(captured)
      return
    }
    const object = this.#decode(captured, kind)
    const { name = '', namespace = '' } = object.metadata ?? {}
    // kube-apiserver also stores records of its own, such as its leases, in the type of an object, but under other keys.
    if (etcd !== undefined && (name === '' || !etcd.key.endsWith(namespace === '' ? `/${name}` : `/${namespace}/${name}`))) {
      this.#internalKeys.push(etcd.key)
      return
    }
    if (name === '') throw refuse(origin, 'it has no metadata.name')
    if (name.includes('/') || namespace.includes('/')) throw refuse(origin, 'metadata.name and metadata.namespace must not contain a slash')
    if (!uidPattern.test(object.metadata?.uid ?? '')) throw refuse(origin, 'metadata.uid is not an identifier')
    const key = keyOf(kind.resource, namespace, name)
    const revision = etcd?.revision ?? revisionOf(object.metadata?.resourceVersion, origin)
    const other = this.#entries.get(key)
    if (other !== undefined && other.revision === undefined && revision === undefined)
      throw refuse(origin, `${kindName} ${name} is in the capture already, at ${other.captured.origin}`)
    if (other !== undefined && (revision ?? 0) <= (other.revision ?? 0)) return
    this.#entries.set(key, { captured, kind, object, revision })
    this.#uids.add(object.metadata?.uid ?? '')
    if (namespace !== '') this.#namespaces.add(namespace)
  }

  /** Adds the kinds of all CRDs to the index. */
  serveCustomResources(): void {
    const { catalog } = this.#context
    const definitions = [...this.#entries.values()].flatMap(({ object, captured }) => {
      const crd = object as CustomResourceDefinition
      if (isBuiltInGroup(catalog, crd.spec?.group ?? '')) return []
      const acceptedNames = crd.status?.acceptedNames?.kind ? crd.status.acceptedNames : (crd.spec?.names ?? {})
      const isConverted = crd.spec?.conversion?.strategy === 'Webhook'
      const definition = explain(captured.origin, () =>
        customKind({ ...crd, status: { ...crd.status, acceptedNames } }, isConverted ? conversionBeforeStart : undefined),
      )
      return [definition]
    })
    if (definitions.length > 0) this.#kinds = indexKinds(catalog.with({ put: definitions }).all())
  }

  /** Adds the namespaces of captured objects that the capture lacks. */
  addNamespaces(): void {
    const kind = this.#kinds.get(kindKey('v1', 'Namespace'))
    if (kind === undefined) return
    for (const name of this.#namespaces) {
      const key = keyOf(kind.resource, '', name)
      if (this.#entries.has(key)) continue
      const labels = { [this.#context.catalog.identity.label('metadata.name')]: name }
      const object = { metadata: { name, labels } }
      this.add({ apiVersion: 'v1', kind: 'Namespace', origin: `namespace ${name}`, decode: () => ({ object, problems: [] }) })
      this.#createdNamespaces.push(name)
    }
  }

  async rows(captureRevision: number): Promise<InitialRows & Pick<Imported, 'rows'>> {
    this.#refuseMissingCrds()
    const rows: InitialRow[] = []
    let last = Math.max(1, captureRevision)
    for (const { revision = 0 } of this.#entries.values()) last = Math.max(last, revision)
    for (const [key, { captured, kind, object, revision = ++last }] of this.#entries) {
      const value = explain(captured.origin, () => {
        checkKey(key)
        return encodeStored(kind.storedAs, object)
      })
      rows.push({ key, value, revision, expiresAtMs: this.#expiryOf(kind) })
      for (const reserver of this.#context.reservers)
        if (reserver.collection === kind.resource.collection)
          for (const uniqueKey of reserver.uniqueKeysOf(object))
            rows.push({ key: storageKeyOf(uniqueKey), value: Buffer.from(key), revision })
      await turnBudget.yieldIfSpent()
    }
    return { rows, revision: last }
  }

  warnings(): readonly string[] {
    const warnings: string[] = []
    const warn = (what: string, texts: readonly string[]): void => {
      if (texts.length > 0) warnings.push(`${what}: ${listed(texts)}`)
    }
    warn('objects of kinds that this server does not serve were left out', countsOf(this.#unservedKinds))
    warn('records that are no objects were left out', this.#internalKeys)
    warn('unknown fields were dropped', countsOf(this.#unknownFields))
    warn('namespaces that the capture lacks were added', this.#createdNamespaces)
    warn('owners are not in the capture, so the garbage collector deletes their dependents', countsOf(this.#missingOwners()))
    return warnings
  }

  #decode(captured: CapturedObject, kind: KindVersion): ApiObject {
    const { origin } = captured
    const { resource } = kind
    const { object, problems } = explain(origin, () => captured.decode(kind.expected))
    for (const problem of problems) {
      const field = `${captured.kind} ${/"(.*)"/.exec(problem)?.[1] ?? problem}`.replace(/\[\d+\]/g, '[]')
      this.#unknownFields.set(field, (this.#unknownFields.get(field) ?? 0) + 1)
    }
    const { namespace } = object.metadata ?? {}
    const placed = withMetadata(object, { namespace: resource.namespaced ? namespace || 'default' : undefined })
    return explain(origin, () => (placed.metadata?.uid ? (kind.toStored?.(placed) ?? placed) : this.#create(placed, kind)))
  }

  /** An object without uid was never stored: it gets defaults and the fields that a server sets, but keeps its status. */
  #create(object: ApiObject, { resource, expected, toStored }: KindVersion): ApiObject {
    const { now, gates, newUid, catalog } = this.#context
    const user = { name: 'system:apiserver', uid: '', groups: [mastersGroup], extra: {} }
    const version = expected.apiVersion.slice(expected.apiVersion.indexOf('/') + 1)
    const rules = { identity: catalog.identity, now, gates, user, version }
    const defaulted = (resource.apiVersion === expected.apiVersion ? resource.defaults?.(object, rules) : undefined) ?? object
    const { validatesRequestVersion = false, prepareCreate } = resource.definition
    const stored = validatesRequestVersion ? defaulted : (toStored?.(defaulted) ?? defaulted)
    const stamped = withMetadata(stored, {
      uid: newUid(),
      creationTimestamp: stored.metadata?.creationTimestamp ?? timeOf(now),
    })
    const prepared = prepareCreate?.(stamped, rules) ?? stamped
    const { status } = stored as { readonly status?: unknown }
    const withStatus = status === undefined ? prepared : { ...prepared, status }
    return validatesRequestVersion ? (toStored?.(withStatus) ?? withStatus) : withStatus
  }

  #addUnknown({ apiVersion, kind, origin, etcd }: CapturedObject): void {
    const { catalog } = this.#context
    const other = catalog.identity.translate(groupOf(apiVersion))
    if (other !== undefined && catalog.hasGroup(other.group))
      throw refuse(origin, `${apiVersion} has the names of the identity "${other.from}": start with identity ${other.from}`)
    const counts = etcd !== undefined || catalog.hasGroup(groupOf(apiVersion)) ? this.#unservedKinds : this.#missingCrds
    const key = kindKey(apiVersion, kind)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  #refuseMissingCrds(): void {
    if (this.#missingCrds.size === 0) return
    const kinds = listed(countsOf(this.#missingCrds))
    throw new StartupError(
      `from: the capture has custom resources without their CustomResourceDefinitions: ${kinds}; add the definitions, or leave the objects out`,
    )
  }

  /** Events live as long as new ones. */
  #expiryOf({ resource: { definition } }: KindVersion): number | undefined {
    const ttlSeconds = definition.ttlSeconds?.(this.#context.eventTtlSeconds) ?? 0
    return ttlSeconds > 0 ? this.#context.now + ttlSeconds * 1000 : undefined
  }

  #missingOwners(): ReadonlyMap<string, number> {
    const missing = new Map<string, number>()
    for (const { object } of this.#entries.values()) {
      const owners = ownerUids(object)
      // Objects with at least one existing owner stay.
      if (owners.length === 0 || owners.some((uid) => this.#uids.has(uid))) continue
      for (const { kind, name } of object.metadata?.ownerReferences ?? []) {
        const owner = `${kind} ${name}`
        missing.set(owner, (missing.get(owner) ?? 0) + 1)
      }
    }
    return missing
  }
}

const countsOf = (counts: ReadonlyMap<string, number>): readonly string[] =>
  Array.from(counts, ([text, count]) => (count === 1 ? text : `${text} (${count} times)`))

/** Objects are stored in the version of the capture, so nothing is converted before the server runs. */
const conversionBeforeStart = (): Promise<never> => Promise.reject(new Error('an import converts no objects'))

/** Adds the origin of the object to an error. */
function explain<T>(origin: string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof StartupError || !(thrown instanceof Error)) throw thrown
    // Other errors are bugs of the server: a capture must not hide their stack.
    if (!(thrown instanceof ApiError || thrown instanceof RangeError))
      throw new Error(`from: ${origin}: ${thrown.message}`, { cause: thrown })
    throw refuse(origin, thrown.message)
  }
}
