// Brings a prefix of etcd that servers of the format before have used up to date.
//
// Values stay as they are until they are written next: to write them again would give them other revisions, and so other versions to all
// objects. They are read as they are now by whoever takes them into a mirror. What changes in etcd are keys that have moved.
//
// The format says that this has begun and not ended. From then on no server of the older format starts here; those that are still at work are
// waited for. One replica does the work, which it shows by a key with a lease; each of its transactions has the condition that this key is as
// it left it. If it dies, another one goes on, and finds what has moved where it is.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../base/clock.js'
import type { Logger } from '../../base/logger.js'
import type { FormatUpgrade } from '../storage.js'
import { type ClaimOptions, formatValue, type PrefixFormat, readFormat } from './claim-prefix.js'
import { createLeases, type Leases } from './leases.js'
import { type ListedEntry, listEntries } from './list-entries.js'
import {
  decodeRange,
  decodeTxn,
  encodeRange,
  encodeTxn,
  methods,
  type Operation,
  type RangeAnswer,
  type Txn,
  type TxnAnswer,
} from './messages.js'
import { createNumbering } from './numbering.js'
import { valuePrefix } from './stored-value.js'

export interface UpgradePrefixOptions extends ClaimOptions {
  readonly upgrade: FormatUpgrade | undefined
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

const lockMs = 3000
const betweenLooksMs = 500
const reportEveryMs = 2000
/** Two operations each, of which etcd takes 128 in one transaction. */
const movesPerTxn = 50

/** Resolves when the prefix is up to date, whoever saw to it. */
export async function upgradePrefix(format: PrefixFormat, options: UpgradePrefixOptions): Promise<void> {
  const { logger, keys, upgrade } = options
  let told = 0
  for (let now: PrefixFormat | undefined = format; now?.isUpgrading; now = await readFormat(options)) {
    options.signal?.throwIfAborted()
    const waitsFor = upgrade === undefined ? 0 : await countServers(upgrade, options)
    const lock = waitsFor === 0 ? await takeLock(options) : undefined
    if (lock !== undefined && (await runUpgrade(now, lock, options))) return
    if (performance.now() - told >= reportEveryMs) {
      told = performance.now()
      const reason = waitsFor > 0 ? `servers of the older version are still at work (${waitsFor}): stop them` : 'another server is at it'
      logger.info({ prefix: keys.prefix }, `waiting for the upgrade of etcd: ${reason}`)
    }
    await sleep(betweenLooksMs, undefined, options.signal ? { signal: options.signal } : {})
  }
}

async function countServers({ servers }: FormatUpgrade, options: ClaimOptions): Promise<number> {
  const { keys } = options
  const request = { key: keys.dataKey(servers.start), end: keys.dataKey(servers.end), keysOnly: true }
  return (await ask(request, options)).items.length
}

/** The right to upgrade, as a key that goes when its holder does. */
class UpgradeLock {
  readonly #options: ClaimOptions
  readonly #leases: Leases
  /** etcd's revision of the key. */
  #step = 0

  constructor(options: ClaimOptions) {
    this.#options = options
    this.#leases = createLeases({ client: options.client, clock: systemClock, reuseMs: 0 })
  }

  /** Does something as long as nobody else holds the key, and keeps it; false: somebody else does. */
  async run(success: readonly Operation[]): Promise<boolean> {
    const { client, keys, patienceMs } = this.#options
    const key = keys.upgrade
    const lease = await client.persist(performance.now() + patienceMs, (timeoutMs) => this.#leases.grant(lockMs, timeoutMs))
    const hold: Operation = { kind: 'put', key, value: [Buffer.alloc(0)], lease }
    const { succeeded, revision } = await transact(
      { compare: [{ key, modRevision: this.#step }], success: [hold, ...success], failure: [] },
      this.#options,
    )
    if (succeeded) this.#step = revision
    return succeeded
  }

  async release(): Promise<void> {
    const key = this.#options.keys.upgrade
    await transact({ compare: [{ key, modRevision: this.#step }], success: [{ kind: 'delete', key }], failure: [] }, this.#options)
  }
}

async function takeLock(options: ClaimOptions): Promise<UpgradeLock | undefined> {
  const lock = new UpgradeLock(options)
  return (await lock.run([])) ? lock : undefined
}

/** False when the lock was lost on the way. */
async function runUpgrade(format: PrefixFormat, lock: UpgradeLock, options: UpgradePrefixOptions): Promise<boolean> {
  const { logger, keys, upgrade } = options
  logger.info({ prefix: keys.prefix }, 'etcd prefix has an older format; upgrading')
  const { revision: step } = await ask({ key: keys.format }, options)
  let seen = 0
  let moved = 0
  let reportAtMs = performance.now() + reportEveryMs
  for await (const { entries } of listEntries({ ...options, numbering: createNumbering(format.base), step })) {
    const moves = entries.filter(
      ({ key, expiresAtMs }) => expiresAtMs === undefined && upgrade !== undefined && upgrade.upgradeKey(key) !== key,
    )
    for (let i = 0; i < moves.length; i += movesPerTxn) {
      if (!(await lock.run(movesOf(moves.slice(i, i + movesPerTxn), options)))) return false
    }
    seen += entries.length
    moved += moves.length
    if (performance.now() < reportAtMs) continue
    reportAtMs = performance.now() + reportEveryMs
    logger.info({ prefix: keys.prefix, done: seen, moved }, 'upgrading etcd prefix')
  }
  const finished: Operation = { kind: 'put', key: keys.format, value: [formatValue({ ...format, isUpgrading: false })] }
  if (!(await lock.run([finished]))) return false
  await lock.release()
  logger.info({ prefix: keys.prefix, entries: seen, moved }, 'etcd prefix upgraded')
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

const ask = async (request: Parameters<typeof encodeRange>[0], { client, patienceMs }: ClaimOptions): Promise<RangeAnswer> => {
  const message = encodeRange(request)
  return decodeRange(await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.range, message, timeoutMs)))
}

async function transact(txn: Txn, { client, patienceMs }: ClaimOptions): Promise<TxnAnswer> {
  const message = encodeTxn(txn, 1 << 16)
  return decodeTxn(await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.txn, message, timeoutMs)))
}
