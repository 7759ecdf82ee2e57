// Copy target: an unused etcd prefix. etcd assigns new revisions, so their numbering starts above the last revision of the source.

import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { BackupError, type CopiedEntry, type CopySource, type CopyTarget, type TargetOptions } from '../../storage/backup/copied-entry.js'
import { formatValue, hasData, type PrefixFormat, readFormat } from '../../storage/etcd/claim-prefix.js'
import type { Operation } from '../../storage/etcd/grpc/etcd-messages.js'
import { createLeases, type Leases } from '../../storage/etcd/leases.js'
import { createNumbering } from '../../storage/etcd/revision-numbering.js'
import { valuePrefix } from '../../storage/etcd/stored-value.js'
import { closeOnFailure, currentRevisions, type EtcdLocation, openEtcdSource } from './etcd-source.js'

const putsPerTxn = 100
const bytesPerTxn = 1 << 20
const leaseReuseMs = 60_000
/** Minimum lifetime, so that no entry expires before the copy is verified. */
const minLifetimeMs = 600_000

/** Throws if the prefix is in use. */
export function openEtcdTarget(location: EtcdLocation, options: TargetOptions): Promise<CopyTarget> {
  return closeOnFailure(location, () => open(location, options))
}

async function open(location: EtcdLocation, { identityName, revision }: TargetOptions): Promise<CopyTarget> {
  const { keys } = location
  if ((await readFormat(location)) || (await hasData(location))) {
    throw new BackupError(`the prefix ${keys.prefix} of etcd has data already; choose another prefix or remove its keys`)
  }
  const target = new EtcdTarget(location, { mark: identityName, base: revision, isUnfinished: true, isUpgrading: false })
  await target.claim()
  return target
}

class EtcdTarget implements CopyTarget {
  readonly #location: EtcdLocation
  readonly #format: PrefixFormat
  readonly #leases: Leases

  constructor(location: EtcdLocation, format: PrefixFormat) {
    this.#location = location
    this.#format = format
    this.#leases = createLeases({ client: location.client, clock: systemClock, reuseMs: leaseReuseMs })
  }

  async claim(): Promise<void> {
    const key = this.#location.keys.format
    const put: Operation = { kind: 'put', key, value: [formatValue(this.#format)] }
    const { client, retryTimeoutMs } = this.#location
    const { succeeded } = await client.transact({ compare: [{ key, modRevision: 0 }], success: [put], failure: [] }, retryTimeoutMs)
    if (!succeeded) throw new BackupError(`the prefix ${this.#location.keys.prefix} of etcd was just claimed by another process`)
  }

  async write(page: readonly CopiedEntry[]): Promise<void> {
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
    const { keys } = this.#location
    const { cluster } = await currentRevisions(this.#location)
    // History starts after the copy.
    const compacted = createNumbering(this.#format.base).endOf(cluster)
    await this.#put([
      { kind: 'put', key: keys.compacted, value: [Buffer.from(String(compacted))] },
      { kind: 'put', key: keys.head, value: [Buffer.alloc(0)] },
      { kind: 'put', key: keys.format, value: [formatValue({ ...this.#format, isUnfinished: false })] },
    ])
  }

  /** Keeps the data, marked as unfinished: servers reject it, and the operator removes it. */
  async abandon(): Promise<void> {
    await this.#location.client.close()
  }

  readBack(): Promise<CopySource> {
    return openEtcdSource(this.#location, false)
  }

  async #putOf({ key, value, expiresAtMs }: CopiedEntry, index: number): Promise<Operation> {
    const put = { kind: 'put', key: this.#location.keys.dataKey(key), value: [valuePrefix(index, expiresAtMs), value] } as const
    if (expiresAtMs === undefined) return put
    const deadlineMs = performance.now() + this.#location.retryTimeoutMs
    const untilMs = Math.max(expiresAtMs, systemClock.now() + minLifetimeMs)
    return { ...put, lease: await this.#location.client.retryUntil(deadlineMs, (timeoutMs) => this.#leases.leaseUntil(untilMs, timeoutMs)) }
  }

  async #put(success: readonly Operation[]): Promise<void> {
    await this.#location.client.transact({ compare: [], success, failure: [] }, this.#location.retryTimeoutMs)
  }
}
