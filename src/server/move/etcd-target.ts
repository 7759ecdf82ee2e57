// An unused prefix of an etcd as a target. etcd numbers what it is given anew, so the store there is numbered from above the revisions it had.

import { systemClock } from '../../base/clock.js'
import { formatValue, hasData, type PrefixFormat, readFormat } from '../../storage/etcd/claim-prefix.js'
import { createLeases, type Leases } from '../../storage/etcd/leases.js'
import { decodeTxn, encodeTxn, methods, type Operation, type Txn, type TxnAnswer } from '../../storage/etcd/messages.js'
import { createNumbering } from '../../storage/etcd/numbering.js'
import { valuePrefix } from '../../storage/etcd/stored-value.js'
import { closingOnFailure, type EtcdPlace, newestStep } from './etcd-place.js'
import { openEtcdSource } from './etcd-source.js'
import { type MovedEntry, MoveError, type MoveSource, type MoveTarget, type TargetOptions } from './moved-entry.js'

const putsPerTxn = 100
const bytesPerTxn = 1 << 20
const leaseReuseMs = 60_000
/** Nothing shall expire before it has been checked. */
const shortestLifeMs = 600_000

/** Throws when the prefix is in use. */
export function openEtcdTarget(place: EtcdPlace, options: TargetOptions): Promise<MoveTarget> {
  return closingOnFailure(place, () => open(place, options))
}

async function open(place: EtcdPlace, { mark, revision }: TargetOptions): Promise<MoveTarget> {
  const { keys } = place
  if ((await readFormat(place)) || (await hasData(place))) {
    throw new MoveError(`there is data under the prefix ${keys.prefix} of etcd already: choose another prefix, or remove its keys`)
  }
  const target = new EtcdTarget(place, { mark, base: revision, isUnfinished: true, isUpgrading: false })
  await target.claim()
  return target
}

class EtcdTarget implements MoveTarget {
  readonly #place: EtcdPlace
  readonly #format: PrefixFormat
  readonly #leases: Leases

  constructor(place: EtcdPlace, format: PrefixFormat) {
    this.#place = place
    this.#format = format
    this.#leases = createLeases({ client: place.client, clock: systemClock, reuseMs: leaseReuseMs })
  }

  async claim(): Promise<void> {
    const key = this.#place.keys.format
    const put: Operation = { kind: 'put', key, value: [formatValue(this.#format)] }
    const { succeeded } = await this.#run({ compare: [{ key, modRevision: 0 }], success: [put], failure: [] })
    if (!succeeded) throw new MoveError(`the prefix ${this.#place.keys.prefix} of etcd was just taken by somebody else`)
  }

  async write(page: readonly MovedEntry[]): Promise<void> {
    let puts: Operation[] = []
    let bytes = 0
    for (const entry of page) {
      if (puts.length >= putsPerTxn || (puts.length > 0 && bytes + entry.value.length > bytesPerTxn)) {
        await this.#put(puts)
        puts = []
        bytes = 0
      }
      puts.push(await this.#putOf(entry, puts.length))
      bytes += entry.value.length
    }
    if (puts.length > 0) await this.#put(puts)
  }

  async finish(): Promise<void> {
    const { keys } = this.#place
    const { now } = await newestStep(this.#place)
    // Nobody shall take what was moved here for something that happened: history begins now.
    const compacted = createNumbering(this.#format.base).endOf(now)
    await this.#put([
      { kind: 'put', key: keys.compacted, value: [Buffer.from(String(compacted))] },
      { kind: 'put', key: keys.head, value: [Buffer.alloc(0)] },
      { kind: 'put', key: keys.format, value: [formatValue({ ...this.#format, isUnfinished: false })] },
    ])
  }

  /** What was written stays, marked as unfinished: servers refuse it, and removing it is left to the operator. */
  async abandon(): Promise<void> {
    await this.#place.client.close()
  }

  readBack(): Promise<MoveSource> {
    return openEtcdSource(this.#place, false)
  }

  async #putOf({ key, value, expiresAtMs }: MovedEntry, index: number): Promise<Operation> {
    const put = { kind: 'put', key: this.#place.keys.dataKey(key), value: [valuePrefix(index, expiresAtMs), value] } as const
    if (expiresAtMs === undefined) return put
    const deadlineMs = performance.now() + this.#place.patienceMs
    const untilMs = Math.max(expiresAtMs, systemClock.now() + shortestLifeMs)
    return { ...put, lease: await this.#place.client.persist(deadlineMs, (timeoutMs) => this.#leases.leaseUntil(untilMs, timeoutMs)) }
  }

  async #put(success: readonly Operation[]): Promise<void> {
    await this.#run({ compare: [], success, failure: [] })
  }

  async #run(txn: Txn): Promise<TxnAnswer> {
    const { client, patienceMs } = this.#place
    const message = encodeTxn(txn, bytesPerTxn)
    return decodeTxn(await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.txn, message, timeoutMs)))
  }
}
