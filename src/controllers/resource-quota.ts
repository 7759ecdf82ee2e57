// The status of each quota: what may be used, and how much is. Writes count themselves in (`admission/quota/ledger.ts`), so that everything is
// counted here only when a quota is new or says something else, when the time of a pod is over, and now and then for what nobody told.

import type { Catalog, Resource } from '../api/catalog.js'
import { sameValue } from '../api/validation/same-value.js'
import { sortTexts } from '../base/text-order.js'
import { partsOf } from '../objects/keys.js'
import { encodeLean, leanAnnotated, leanObject } from '../objects/lean-object.js'
import type { ObjectAddress } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { ResourceQuota } from '../resources/core/v1.schema.js'
import { type Amounts, addAmounts, countOf, onlyAmounts, readAmounts, subtractAmounts, writeAmounts } from '../resources/quota/amounts.js'
import { evaluatorOf, type QuotaEvaluator } from '../resources/quota/evaluator.js'
import { endOfUsage } from '../resources/quota/pod-usage.js'
import { isInScopes, scopesOf } from '../resources/quota/quota-match.js'
import type { Quantity } from '../schema/quantity.js'
import { KeyedLoop, type Later, type LoopParts, type Run, type Seen } from './kit/loop.js'
import { systemTimers } from './kit/timers.js'
import type { Loop } from './leader-election.js'

/** For what goes without a word: entries that end by themselves, kinds that come and go. */
const resyncMs = 5 * 60_000
/** Writes that began before a quota was there do not know of it: what they left is found when they are over. */
const secondLookMs = 2000
/** Whoever makes a quota and reads it again finds what they made: the first count is a write of somebody else, and follows when they are done. */
const firstCountMs = 300
/** Kinds often come many at a time. */
const gatherMs = 500
const maxAttempts = 25

export const quotaStatus = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'resourcequota_primary',
    concurrency: 4,
    resyncMs,
    // What could not be counted may be a kind that is served now.
    onOutsideChange: (lookAgain) => onOtherKinds(parts, lookAgain),
    sources: (catalog) => {
      const quotas = catalog.find('', 'v1', 'resourcequotas')
      const pods = catalog.find('', 'v1', 'pods')
      if (quotas === undefined || pods === undefined) return []
      return [
        { resource: quotas, namespace: '', keyOf: (stored, seen) => keyOfQuota(quotas, stored, seen) },
        {
          resource: pods,
          namespace: '',
          matches: isBeingDeleted,
          keyOf: (stored, seen) => keyOfPod(parts, { quotas, pods, stored, isGone: seen === 'DELETED' }),
        },
      ]
    },
    work: (key, run) => reconcile(parts, key, run),
  })

/** Calls back when kinds have come or gone, and not when one is only described otherwise: then all that there is would be counted for nothing. */
function onOtherKinds({ catalogs, timers = systemTimers }: LoopParts, lookAgain: () => void): () => void {
  let known = kindsIn(catalogs.current)
  let cancel: (() => void) | undefined
  const unsubscribe = catalogs.onChange((current) => {
    const next = kindsIn(current)
    if (next === known) return
    known = next
    cancel ??= timers.after(gatherMs, () => {
      cancel = undefined
      lookAgain()
    })
  })
  return () => {
    unsubscribe()
    cancel?.()
  }
}

const kindsIn = (catalog: Catalog): string =>
  sortTexts(Array.from(catalog.collections(), ({ collection, namespaced }) => (namespaced ? collection : ''))).join(' ')

/** Of what writes count in nothing is to be done: only where what may be used is not what is wanted. */
function keyOfQuota(quotas: Resource, stored: StoredObject, seen: Seen): string | Later | undefined {
  if (seen === 'DELETED') return undefined
  const { namespace, name } = partsOf(quotas, stored.key)
  const key = `${namespace}/${name}`
  if (seen === 'ADDED') return { key, afterMs: firstCountMs }
  if (seen !== 'MODIFIED') return key
  const { spec, status } = leanObject(stored, quotas) as ResourceQuota
  return isSameHard(spec?.hard, status?.hard) ? undefined : key
}

const isSameHard = (wanted: object | undefined, present: object | undefined): boolean => sameValue(wanted ?? {}, present ?? {})

const mark = Buffer.from('"deletionTimestamp"')
const isBeingDeleted = ({ entry }: StoredObject): boolean => entry.value.includes(mark)

interface SeenPod {
  readonly quotas: Resource
  readonly pods: Resource
  readonly stored: StoredObject
  readonly isGone: boolean
}

/** A pod that stays after its time counts no more: its namespace is counted then. If it goes later, nobody takes it off again. */
function keyOfPod({ engine }: LoopParts, { quotas, pods, stored, isGone }: SeenPod): string | Later | undefined {
  const { namespace } = partsOf(pods, stored.key)
  if (engine.store.count(quotas, namespace) === 0) return undefined
  const endMs = endOfUsage(leanObject(stored, pods))
  if (endMs === undefined) return undefined
  // deletionTimestamp is cut to seconds: a deletion that marks the pod and removes it at once must be over before the namespace is counted.
  const afterMs = endMs + 2000 - engine.clock.now()
  if (isGone) return afterMs > 2000 ? undefined : `${namespace}/`
  return { key: `${namespace}/`, afterMs: Math.max(afterMs, 0) }
}

/** A key is a quota, or with no name all of a namespace. */
async function reconcile(parts: LoopParts, key: string, run: Run): Promise<{ afterMs: number } | undefined> {
  const quotas = parts.catalogs.current.find('', 'v1', 'resourcequotas')
  if (quotas === undefined) return undefined
  const { store } = parts.engine
  const [namespace = '', name = ''] = key.split('/')
  const names =
    name === ''
      ? Array.from(
          store.list({ resource: quotas, namespace, selection: everything, limit: 0 }).objects(),
          (stored) => partsOf(quotas, stored.key).name,
        )
      : [name]
  let isNew = false
  for (const each of names) if (await settleOne(parts, { address: { resource: quotas, namespace, name: each }, run })) isNew = true
  return isNew ? { afterMs: secondLookMs } : undefined
}

interface Settling {
  readonly address: ObjectAddress
  readonly run: Run
}

/** Counts, and writes what was found; true where the quota limits what it did not before. */
async function settleOne(parts: LoopParts, { address, run }: Settling): Promise<boolean> {
  const { store } = parts.engine
  const quotas = address.resource
  const stored = store.read(address)
  if (stored === undefined) return false
  const before = leanObject(stored, quotas) as ResourceQuota
  // Begins in this turn, at the revision at which the quota was read.
  const found = await countAll(parts, { quota: before, namespace: address.namespace, run })
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    if (run.signal.aborted) return false
    const present = store.read(address)
    if (present === undefined) return false
    const quota = leanObject(present, quotas) as ResourceQuota
    if (quota.metadata?.uid !== before.metadata?.uid) return false
    // What is wanted has changed, or somebody wrote while nothing was known: that is counted again.
    if (!isSameHard(quota.spec?.hard, before.spec?.hard) || isMissed(found, quota, before, present.revision !== stored.revision)) {
      throw new Error('the quota has changed while its usage was counted')
    }
    const status = { hard: quota.spec?.hard ?? {}, used: writeAmounts(withDrift(found, quota, before)) }
    const isSettled = isSameHard(status.hard, quota.status?.hard) && sameValue(status.used, quota.status?.used ?? {})
    if (isSettled) return false
    const outcome = await store.put(address, encodeLean(present, quotas, { ...quota, status } as ResourceQuota), {
      expect: present.revision,
    })
    if (outcome.ok) return !isSameHard(status.hard, before.status?.hard)
    const index = store.readIndex()
    if (index instanceof Promise) await index
  }
  throw new Error('others change the quota all the time')
}

/** Whether writes may have been missed: the quota changed meanwhile, and they could not count in what was not there. */
const isMissed = (found: Amounts, quota: ResourceQuota, before: ResourceQuota, isChanged: boolean): boolean =>
  isChanged && [...found.keys()].some((name) => before.status?.used?.[name] === undefined || quota.status?.used?.[name] === undefined)

/** What was counted, and what writes have added and taken away since it was. */
function withDrift(found: Amounts, quota: ResourceQuota, before: ResourceQuota): Amounts {
  const drift = subtractAmounts(readAmounts(quota.status?.used), readAmounts(before.status?.used))
  return addAmounts(
    found,
    onlyAmounts(drift, (name) => found.has(name)),
  )
}

interface Counting {
  readonly quota: ResourceQuota
  readonly namespace: string
  readonly run: Run
}

/** Everything that the quota counts, at one revision: that of the moment at which it is called. */
async function countAll(parts: LoopParts, { quota, namespace, run }: Counting): Promise<Amounts> {
  const { engine, catalogs } = parts
  const { identity } = engine
  const at = engine.store.revision
  const names = Object.keys(quota.spec?.hard ?? {})
  const used = new Map<string, Quantity>()
  const measured: { readonly resource: Resource; readonly evaluator: QuotaEvaluator }[] = []
  for (const resource of catalogs.current.collections()) {
    const evaluator = resource.namespaced ? evaluatorOf(resource.collection) : undefined
    if (evaluator === undefined) continue
    const own = names.filter((name) => evaluator.counts(name, identity))
    if (own.length === 0) continue
    for (const name of own) used.set(name, used.get(name) ?? countOf(0))
    measured.push({ resource, evaluator })
  }
  let sum: Amounts = used
  for (const { resource, evaluator } of measured) {
    if (evaluator.isPlainCount) {
      // Scopes are of pods: such a quota counts nothing else.
      if (scopesOf(quota).length > 0) continue
      const count = countOf(engine.store.count(resource, namespace, at))
      sum = addAmounts(sum, new Map(names.filter((name) => evaluator.counts(name, identity)).map((name) => [name, count])))
      continue
    }
    for (const stored of engine.store.list({ resource, namespace, selection: everything, limit: 0, at }).objects()) {
      if (run.pieces.isOver) await run.pieces.next()
      if (run.signal.aborted) return sum
      // Claims name their class in an annotation, too.
      const object = leanAnnotated(stored, resource)
      if (!isCounted(evaluator, quota, object)) continue
      sum = addAmounts(
        sum,
        onlyAmounts(evaluator.usage(object, { identity, now: engine.clock.now() }), (name) => used.has(name)),
      )
    }
  }
  return sum
}

function isCounted(...asked: Parameters<typeof isInScopes>): boolean {
  try {
    return isInScopes(...asked)
  } catch {
    return false
  }
}
