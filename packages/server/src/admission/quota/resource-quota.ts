// Quotas are charged in the commit that stores the object: what is used is exact whoever writes at the same time, on however many servers, and
// whenever one of them dies. Writes that one quota counts follow one another; those of other namespaces do not wait.

import { type ApiError, forbidden, unavailable } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { encodeLean } from '../../objects/lean-object.js'
import type { Alongside, ObjectStore, WriteOutcome } from '../../objects/object-store.js'
import type { ResourceQuota } from '../../resources/core/v1.schema.js'
import { evaluatorOf } from '../../resources/quota/evaluator.js'
import type { LimitedResource } from '../config/quota-settings.js'
import { keptByNamespace } from '../kept-by-namespace.js'
import { type CountedWrite, chargesOf, checkQuotas, isCharged, type KeptQuota } from './quota-check.js'
import { QuotaTurns } from './turns.js'

/** An object that comes, changes or goes. */
export interface AccountedChange {
  readonly next: ApiObject | undefined
  readonly old: ApiObject | undefined
}

/** Stores what is to be stored, together with what goes with it or not at all. */
export type CommitWith = (alongside: readonly Alongside[]) => Promise<WriteOutcome>

/** Who keeps account of what the objects of a namespace use together. */
export interface Accounts {
  /** Undefined where nobody counts: then what is stored needs nobody's consent. */
  accountFor(call: Call, change: AccountedChange): ((commit: CommitWith) => Promise<WriteOutcome>) | undefined
}

export interface LedgerParts {
  readonly store: ObjectStore
  readonly quotas: Resource
  readonly limited: readonly LimitedResource[]
  /** Whether what exceeds a quota is refused; else it is only counted. */
  readonly enforces: boolean
}

/** Each is lost to another server that was quicker. */
const maxAttempts = 100

export class QuotaLedger implements Accounts {
  readonly #parts: LedgerParts
  readonly #quotasIn: (namespace: string) => readonly KeptQuota[]
  readonly #turns = new QuotaTurns()

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#quotasIn = keptByNamespace<ResourceQuota>(parts.store, parts.quotas)
  }

  /** Throws where a write would exceed a quota as they are now. */
  check(call: Call, change: AccountedChange): void {
    if (call.namespace === '' || call.subresource !== undefined) return
    const quotas = this.#quotasIn(call.namespace)
    if (quotas.length === 0 && this.#parts.limited.length === 0) return
    const write = writeOf(call, change)
    if (write !== undefined && isChecked(call, write)) checkQuotas(quotas, write, this.#parts.limited)
  }

  accountFor(call: Call, change: AccountedChange): ((commit: CommitWith) => Promise<WriteOutcome>) | undefined {
    if (call.namespace === '' || this.#quotasIn(call.namespace).length === 0) return undefined
    const write = writeOf(call, change)
    if (write === undefined || !isCharged(this.#quotasIn(call.namespace), write)) return undefined
    return (commit) => this.#turns.take(call.namespace, () => this.#charge(call, write, commit))
  }

  async #charge(call: Call, write: CountedWrite, commit: CommitWith): Promise<WriteOutcome> {
    const { store, quotas, limited, enforces } = this.#parts
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      call.throwIfAborted()
      const present = this.#quotasIn(call.namespace)
      if (enforces && isChecked(call, write)) checkQuotas(present, write, limited)
      const own = ownKeyOf(quotas, call)
      const charges = chargesOf(present, write).filter(({ quota }) => quota.stored.key !== own)
      const outcome = await commit(
        charges.map(({ quota, charged }) => ({
          stored: quota.stored,
          value: charged === quota.object ? quota.stored.entry.value : encodeLean(quota.stored, quotas, charged),
        })),
      )
      if (outcome.ok || outcome.isBehind !== true) return outcome
      // What another server wrote is here when the store says so.
      const index = store.readIndex()
      if (index instanceof Promise) await call.waitFor(index)
    }
    throw unavailable('too many others change what this namespace uses; try again')
  }
}

/** A quota that changes itself is not changed a second time. */
const ownKeyOf = (quotas: Resource, { resource, namespace, name }: Call): string | undefined =>
  resource.collection === quotas.collection ? `${quotas.collection}/${namespace}/${name}` : undefined

/** What makes more of something may be refused: what comes, and what some kinds grow to. Parts of an object are not looked at. */
const isChecked = ({ subresource }: Call, { evaluator, next, old }: CountedWrite): boolean =>
  subresource === undefined && next !== undefined && (old === undefined || evaluator.checksUpdates)

function writeOf(call: Call, { next, old }: AccountedChange): CountedWrite | undefined {
  const { resource, identity } = call
  const evaluator = resource.definition.review === undefined ? evaluatorOf(resource.collection) : undefined
  if (evaluator === undefined) return undefined
  const { group, resource: name } = resource.subject
  const refuse = (why: string): ApiError => forbidden(resource.subject, (next ?? old)?.metadata?.name ?? call.name, why)
  return { evaluator, resource: { group, name }, next, old, identity, now: call.now, refuse }
}
