// Status of ResourceQuotas: admission updates it with each write; this controller counts after changes of quotas and deletions of pods,
// and all quotas every five minutes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { ResourceQuota } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { endOfUsage } from '@cluster-apiserver/api/resources/resource-quota/pod-quota-usage.js'
import { isInScopes, type QuotaEvaluator, scopesOf } from '@cluster-apiserver/api/resources/resource-quota/quota-evaluator.js'
import { evaluatorOf } from '@cluster-apiserver/api/resources/resource-quota/quota-usage.js'
import {
  type Amounts,
  addAmounts,
  countOf,
  filterAmounts,
  readAmounts,
  subtractAmounts,
  writeAmounts,
} from '@cluster-apiserver/api/resources/resource-quota/resource-amounts.js'
import type { Quantity } from '@cluster-apiserver/api/schema/quantity.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { everything } from '../objects/list/selection.js'
import { partsOf } from '../objects/object-keys.js'
import type { ObjectAddress } from '../objects/object-store.js'
import { type ControllerParts, type DelayedKey, KeyedController, type Run, type SourceEvent } from './framework/controller.js'
import type { Controller } from './leader-election/leader-election.js'

/** For changes without an event: expired objects, added and removed kinds. */
const resyncMs = 5 * 60_000
/** Delay of the second count of a new quota, which includes writes that started before it existed. */
const secondCountDelayMs = 2000
/** Delay of the first count, so that clients that create and then update a quota meet no conflict. */
const firstCountDelayMs = 300
const resyncDelayMs = 500
const maxAttempts = 25

/** Scopes of the last count by `namespace/name`, as JSON. */
type CountedScopes = Map<string, string>

export function quotaStatus(parts: ControllerParts): Controller {
  const counted: CountedScopes = new Map()
  return new KeyedController(parts, {
    name: 'resourcequota_primary',
    concurrency: 4,
    resyncMs,
    // A kind that could not be counted may be served now.
    onExternalChange: (resync) => onKindsChange(parts, resync),
    sources: (catalog) => {
      const quotas = catalog.find('', 'v1', 'resourcequotas')
      const pods = catalog.find('', 'v1', 'pods')
      if (quotas === undefined || pods === undefined) return []
      return [
        { resource: quotas, namespace: '', keyOf: (stored, eventType) => keyOfQuota(quotas, counted, { stored, eventType }) },
        {
          resource: pods,
          namespace: '',
          matches: isBeingDeleted,
          keyOf: (stored, eventType) => keyOfPod(parts, { quotas, pods, stored, isDeleted: eventType === 'DELETED' }),
        },
      ]
    },
    work: (key, run) => reconcile({ ...parts, counted }, key, run),
  })
}

/** Calls back when kinds were added or removed, and not when only their schema has changed. */
function onKindsChange({ catalogs, timers = systemTimers }: ControllerParts, resync: () => void): () => void {
  let known = kindNames(catalogs.current)
  let cancel: (() => void) | undefined
  const unsubscribe = catalogs.onChange((current) => {
    const next = kindNames(current)
    if (next === known) return
    known = next
    cancel ??= timers.after(resyncDelayMs, () => {
      cancel = undefined
      resync()
    })
  })
  return () => {
    unsubscribe()
    cancel?.()
  }
}

const kindNames = (catalog: Catalog): string =>
  sortTexts(Array.from(catalog.collections(), ({ collection, namespaced }) => (namespaced ? collection : ''))).join(' ')

interface QuotaEvent {
  readonly stored: StoredObject
  readonly eventType: SourceEvent
}

/** Status updates by writes need no count: only changed limits and scopes do. */
function keyOfQuota(quotas: Resource, counted: CountedScopes, { stored, eventType }: QuotaEvent): string | DelayedKey | undefined {
  const { namespace, name } = partsOf(quotas, stored.key)
  const key = `${namespace}/${name}`
  if (eventType === 'DELETED') {
    counted.delete(key)
    return undefined
  }
  if (eventType === 'ADDED') return { key, afterMs: firstCountDelayMs }
  if (eventType !== 'MODIFIED') return key
  const quota = stored.decode(quotas) as ResourceQuota
  return isSameHard(quota.spec?.hard, quota.status?.hard) && counted.get(key) === scopesText(quota) ? undefined : key
}

const scopesText = (quota: ResourceQuota): string => JSON.stringify(scopesOf(quota))

const isSameHard = (wanted: object | undefined, present: object | undefined): boolean => sameValue(wanted ?? {}, present ?? {})

const deletionField = Buffer.from('"deletionTimestamp"')
const isBeingDeleted = ({ entry }: StoredObject): boolean => entry.value.includes(deletionField)

interface PodEvent {
  readonly quotas: Resource
  readonly pods: Resource
  readonly stored: StoredObject
  readonly isDeleted: boolean
}

/** A pod that exceeds its grace period no longer counts, so its namespace is counted at that time. */
function keyOfPod({ engine }: ControllerParts, { quotas, pods, stored, isDeleted }: PodEvent): string | DelayedKey | undefined {
  const { namespace } = partsOf(pods, stored.key)
  if (engine.store.count(quotas, namespace) === 0) return undefined
  const endMs = endOfUsage(stored.decode(pods))
  if (endMs === undefined) return undefined
  // deletionTimestamp has whole seconds; a deletion in two writes must be complete before the count.
  const afterMs = endMs + 2000 - engine.clock.now()
  if (isDeleted) return afterMs > 2000 ? undefined : `${namespace}/`
  return { key: `${namespace}/`, afterMs: Math.max(afterMs, 0) }
}

interface QuotaParts extends ControllerParts {
  readonly counted: CountedScopes
}

/** Keys are `namespace/name`, or `namespace/` for all quotas of a namespace. */
async function reconcile(parts: QuotaParts, key: string, run: Run): Promise<{ afterMs: number } | undefined> {
  const quotas = parts.catalogs.current.find('', 'v1', 'resourcequotas')
  if (quotas === undefined) return undefined
  const { store } = parts.engine
  const [namespace = '', name = ''] = key.split('/')
  const names =
    name === ''
      ? Array.from(
          store.readAll({ resource: quotas, namespace, selection: everything, limit: 0 }).objects(),
          (stored) => partsOf(quotas, stored.key).name,
        )
      : [name]
  let isNew = false
  for (const each of names) if (await reconcileQuota(parts, { address: { resource: quotas, namespace, name: each }, run })) isNew = true
  return isNew ? { afterMs: secondCountDelayMs } : undefined
}

interface QuotaRun {
  readonly address: ObjectAddress
  readonly run: Run
}

/** Counts and writes the usage; returns true if `hard` has changed. */
async function reconcileQuota(parts: QuotaParts, { address, run }: QuotaRun): Promise<boolean> {
  const { store } = parts.engine
  const quotas = address.resource
  const stored = store.read(address)
  if (stored === undefined) return false
  const before = stored.decode(quotas) as ResourceQuota
  const found = await countAll(parts, { quota: before, namespace: address.namespace, run })
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    if (run.signal.aborted) return false
    const present = store.read(address)
    if (present === undefined) return false
    const quota = present.decode(quotas) as ResourceQuota
    if (quota.metadata?.uid !== before.metadata?.uid) return false
    if (!sameValue(quota.spec, before.spec) || mayMissWrites(found, quota, before, present.revision !== stored.revision)) {
      throw new Error('the quota has changed while its usage was counted')
    }
    const status = { hard: quota.spec?.hard ?? {}, used: writeAmounts(withDrift(found, quota, before)) }
    const isCurrent = isSameHard(status.hard, quota.status?.hard) && sameValue(status.used, quota.status?.used ?? {})
    parts.counted.set(`${address.namespace}/${address.name}`, scopesText(before))
    if (isCurrent) return false
    const outcome = await store.put(address, store.encode(quotas, { ...quota, status } as ResourceQuota), {
      expect: present.revision,
    })
    if (outcome.ok) {
      parts.engine.onCommit?.(outcome.object)
      return !isSameHard(status.hard, before.status?.hard)
    }
    await store.readIndex()
  }
  throw new Error('too many concurrent updates of the quota')
}

/** True if concurrent writes could not update a resource that the status lacked. */
const mayMissWrites = (found: Amounts, quota: ResourceQuota, before: ResourceQuota, isChanged: boolean): boolean =>
  isChanged && [...found.keys()].some((name) => before.status?.used?.[name] === undefined || quota.status?.used?.[name] === undefined)

/** Adds the amounts that concurrent writes have charged since the count. */
function withDrift(found: Amounts, quota: ResourceQuota, before: ResourceQuota): Amounts {
  const drift = subtractAmounts(readAmounts(quota.status?.used), readAmounts(before.status?.used))
  return addAmounts(
    found,
    filterAmounts(drift, (name) => found.has(name)),
  )
}

interface Counting {
  readonly quota: ResourceQuota
  readonly namespace: string
  readonly run: Run
}

/** Counts at one revision. */
async function countAll(parts: ControllerParts, { quota, namespace, run }: Counting): Promise<Amounts> {
  const { engine, catalogs } = parts
  const { identity } = engine
  const revision = engine.store.revision
  const names = Object.keys(quota.spec?.hard ?? {})
  const used = new Map<string, Quantity>()
  const measured: { readonly resource: Resource; readonly evaluator: QuotaEvaluator }[] = []
  for (const resource of catalogs.current.collections()) {
    const evaluator = resource.namespaced ? evaluatorOf(resource.collection) : undefined
    if (evaluator === undefined) continue
    const counted = names.filter((name) => evaluator.counts(name, identity))
    if (counted.length === 0) continue
    for (const name of counted) used.set(name, used.get(name) ?? countOf(0))
    measured.push({ resource, evaluator })
  }
  let sum: Amounts = used
  for (const { resource, evaluator } of measured) {
    if (evaluator.isPlainCount) {
      // A quota with scopes counts pods only.
      if (scopesOf(quota).length > 0) continue
      const count = countOf(engine.store.count(resource, namespace, revision))
      sum = addAmounts(sum, new Map(names.filter((name) => evaluator.counts(name, identity)).map((name) => [name, count])))
      continue
    }
    for (const stored of engine.store.readAll({ resource, namespace, selection: everything, limit: 0, at: revision }).objects()) {
      await run.budget.yieldIfSpent()
      if (run.signal.aborted) return sum
      const object = stored.decode(resource)
      if (!isCounted(evaluator, quota, object)) continue
      sum = addAmounts(
        sum,
        filterAmounts(evaluator.usage(object, { identity, now: engine.clock.now() }), (name) => used.has(name)),
      )
    }
  }
  return sum
}

function isCounted(...args: Parameters<typeof isInScopes>): boolean {
  try {
    return isInScopes(...args)
  } catch {
    return false
  }
}
