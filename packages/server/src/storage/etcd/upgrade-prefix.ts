// Upgrades an etcd prefix of an older format: moves keys with a new name, unless they expire. Other values stay until their next write.
// While the format key says `isUpgrading`, older servers refuse to start; the upgrade waits for running ones.
// One replica upgrades under a key with a lease, a condition of each of its transactions. If it dies, another one continues.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { FormatUpgrade } from '../storage.js'
import { type ClaimOptions, formatValue, type PrefixFormat, readFormat } from './claim-prefix.js'
import type { Operation } from './grpc/etcd-messages.js'
import { createLeases, type Leases } from './leases.js'
import { type ListedEntry, listEntries } from './list-entries.js'
import { createNumbering } from './revision-numbering.js'
import { valuePrefix } from './stored-value.js'

interface UpgradePrefixOptions extends ClaimOptions {
  readonly upgrade: FormatUpgrade | undefined
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

const lockTtlMs = 3000
const pollMs = 500
const reportEveryMs = 2000
/** A move is two operations; etcd's default limit is 128 per transaction. */
const movesPerTxn = 50

export async function upgradePrefix(format: PrefixFormat, options: UpgradePrefixOptions): Promise<void> {
  const { logger, keys, upgrade } = options
  let reportedMs = 0
  for (let current: PrefixFormat | undefined = format; current?.isUpgrading; current = await readFormat(options)) {
    options.signal?.throwIfAborted()
    const olderServers = upgrade === undefined ? 0 : await countServers(upgrade, options)
    const lock = olderServers === 0 ? await takeLock(options) : undefined
    if (lock !== undefined && (await runUpgrade(current, lock, options))) return
    if (performance.now() - reportedMs >= reportEveryMs) {
      reportedMs = performance.now()
      const reason =
        olderServers > 0 ? `${olderServers} servers of the older version are still running: stop them` : 'another server is upgrading it'
      logger.info({ prefix: keys.prefix }, `waiting for the upgrade of etcd: ${reason}`)
    }
    await sleep(pollMs, undefined, options.signal ? { signal: options.signal } : {})
  }
}

async function countServers({ servers }: FormatUpgrade, { client, keys, retryTimeoutMs }: ClaimOptions): Promise<number> {
  const request = { key: keys.dataKey(servers.start), end: keys.dataKey(servers.end), keysOnly: true }
  return (await client.range(request, retryTimeoutMs)).items.length
}

class UpgradeLock {
  readonly #options: ClaimOptions
  readonly #leases: Leases
  #step = 0

  constructor(options: ClaimOptions) {
    this.#options = options
    this.#leases = createLeases({ client: options.client, clock: systemClock, reuseMs: 0 })
  }

  /** Runs operations and renews the lease; false if another replica holds the lock. */
  async run(success: readonly Operation[]): Promise<boolean> {
    const { client, keys, retryTimeoutMs } = this.#options
    const key = keys.upgrade
    const lease = await client.retryUntil(performance.now() + retryTimeoutMs, (timeoutMs) => this.#leases.grant(lockTtlMs, timeoutMs))
    const lockPut: Operation = { kind: 'put', key, value: [Buffer.alloc(0)], lease }
    const compare = [{ key, modRevision: this.#step }]
    const { succeeded, revision } = await client.transact({ compare, success: [lockPut, ...success], failure: [] }, retryTimeoutMs)
    if (succeeded) this.#step = revision
    return succeeded
  }

  async release(): Promise<void> {
    const { client, keys, retryTimeoutMs } = this.#options
    const key = keys.upgrade
    await client.transact({ compare: [{ key, modRevision: this.#step }], success: [{ kind: 'delete', key }], failure: [] }, retryTimeoutMs)
  }
}

async function takeLock(options: ClaimOptions): Promise<UpgradeLock | undefined> {
  const lock = new UpgradeLock(options)
  return (await lock.run([])) ? lock : undefined
}

async function runUpgrade(format: PrefixFormat, lock: UpgradeLock, options: UpgradePrefixOptions): Promise<boolean> {
  const { client, logger, keys, upgrade, retryTimeoutMs } = options
  logger.info({ prefix: keys.prefix }, 'etcd prefix has an older format; upgrading')
  const { revision: step } = await client.range({ key: keys.format }, retryTimeoutMs)
  let readCount = 0
  let moved = 0
  let reportAtMs = performance.now() + reportEveryMs
  for await (const { entries } of listEntries({ ...options, numbering: createNumbering(format.base), step })) {
    const moves = entries.filter(
      ({ key, expiresAtMs }) => expiresAtMs === undefined && upgrade !== undefined && upgrade.upgradeKey(key) !== key,
    )
    for (let i = 0; i < moves.length; i += movesPerTxn) {
      if (!(await lock.run(movesOf(moves.slice(i, i + movesPerTxn), options)))) return false
    }
    readCount += entries.length
    moved += moves.length
    if (performance.now() < reportAtMs) continue
    reportAtMs = performance.now() + reportEveryMs
    logger.info({ prefix: keys.prefix, done: readCount, moved }, 'upgrading etcd prefix')
  }
  const finished: Operation = { kind: 'put', key: keys.format, value: [formatValue({ ...format, isUpgrading: false })] }
  if (!(await lock.run([finished, { kind: 'delete', key: keys.formerOwner }]))) return false
  await lock.release()
  logger.info({ prefix: keys.prefix, entries: readCount, moved }, 'etcd prefix upgraded')
  return true
}

function movesOf(entries: readonly ListedEntry[], { keys, upgrade }: UpgradePrefixOptions): readonly Operation[] {
  const head: Operation = { kind: 'put', key: keys.head, value: [Buffer.alloc(0)] }
  const moves = entries.map(({ key, value }, index): readonly Operation[] => [
    { kind: 'put', key: keys.dataKey(upgrade?.upgradeKey(key) ?? key), value: [valuePrefix(index, undefined), value] },
    { kind: 'delete', key: keys.dataKey(key) },
  ])
  return [head, ...moves.flat()]
}
