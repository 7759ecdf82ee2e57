// ResourceQuota plugin. Usage is charged in the commit that stores the object, so the usage is exact across servers and crashes.

import { type ApiError, forbidden, unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { ResourceQuota } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { evaluatorOf } from '@cluster-apiserver/api/resources/resource-quota/quota-usage.js'
import type { Alongside, ObjectStore, WriteOutcome } from '../../objects/object-store.js'
import type { Plugin } from '../admission-plugin.js'
import type { LimitedResource } from '../config/plugin-configs.js'
import { namespaceObjectCache } from '../namespace-object-cache.js'
import { type CachedQuota, type CountedWrite, chargesOf, checkQuotas, isCharged } from './quota-check.js'

export interface AccountedChange {
  readonly next: ApiObject | undefined
  readonly old: ApiObject | undefined
}

export type CommitWith = (alongside: readonly Alongside[]) => Promise<WriteOutcome>

export interface Accounts {
  /** Returns undefined if no quota counts the write. */
  accountFor(call: Call, change: AccountedChange): ((commit: CommitWith) => Promise<WriteOutcome>) | undefined
}

interface LedgerParts {
  readonly store: ObjectStore
  readonly quotas: Resource
  readonly limited: readonly LimitedResource[]
  /** True if writes over the quota are rejected; otherwise usage is only counted. */
  readonly shouldEnforce: boolean
}

/** Each failed attempt means that another writer changed the quota first. */
const maxAttempts = 100

export class QuotaLedger implements Accounts {
  readonly #parts: LedgerParts
  readonly #quotasIn: (namespace: string) => readonly CachedQuota[]
  readonly #queue = new NamespaceQueue()

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#quotasIn = namespaceObjectCache<ResourceQuota>(parts.store, parts.quotas)
  }

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
    return (commit) => this.#queue.run(call.namespace, () => this.#charge(call, write, commit))
  }

  async #charge(call: Call, write: CountedWrite, commit: CommitWith): Promise<WriteOutcome> {
    const { store, quotas, limited, shouldEnforce } = this.#parts
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      call.throwIfAborted()
      const currentQuotas = this.#quotasIn(call.namespace)
      if (shouldEnforce && isChecked(call, write)) checkQuotas(currentQuotas, write, limited)
      const writtenQuotaKey = writtenQuotaKeyOf(quotas, call)
      const charges = chargesOf(currentQuotas, write).filter(({ quota }) => quota.stored.key !== writtenQuotaKey)
      const outcome = await commit(
        charges.map(({ quota, charged }) => ({
          stored: quota.stored,
          value: charged === quota.object ? quota.stored.entry.value : store.encode(quotas, charged),
        })),
      )
      if (outcome.ok || outcome.isBehind !== true) return outcome
      // Waits until the write of the other server is visible here.
      await call.waitFor(Promise.resolve(store.readIndex()))
    }
    throw unavailable('too many concurrent writes change the quotas of this namespace; try again')
  }
}

/** Key of the quota that the call itself writes; the commit cannot charge it as well. */
const writtenQuotaKeyOf = (quotas: Resource, { resource, namespace, name }: Call): string | undefined =>
  resource.collection === quotas.collection ? `${quotas.collection}/${namespace}/${name}` : undefined

/** Creates are checked, and updates of kinds that can grow; subresources are not. */
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

/** Runs the charges of a namespace one after another. */
class NamespaceQueue {
  readonly #queues = new Map<string, Promise<unknown>>()

  run<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(namespace)
    const done = before === undefined ? work() : before.then(work, work)
    const settled = done.then(ignore, ignore)
    this.#queues.set(namespace, settled)
    void settled.then(() => {
      if (this.#queues.get(namespace) === settled) this.#queues.delete(namespace)
    })
    return done
  }
}

const ignore = (): void => undefined

export const resourceQuota = (ledger: QuotaLedger): Plugin => ({
  name: 'ResourceQuota',
  validate: async ({ call, operation, object, old }) => {
    if (operation === 'CREATE' || operation === 'UPDATE') ledger.check(call, { next: object, old })
  },
})
