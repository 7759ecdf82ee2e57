// A run: all tenants at once, on several lanes each, with checks of the store in between and at the end.

import { type Random, randomFrom } from '../kit/seeded-random.js'
import { Checks } from './check.js'
import { SharedSessions, TenantClient } from './client.js'
import { Contention } from './contention.js'
import { evictPods } from './evictions.js'
import { type FaultName, faultsOf, injectFaults } from './faults.js'
import { Gate } from './gate.js'
import { intrude, review, sendInvalid } from './intrusions.js'
import { Lane } from './lane.js'
import { patch } from './patches.js'
import { RequestIds } from './payload.js'
import { get, list, listAll, useClusterScoped } from './reads.js'
import { makeSystemSecrets, readLarge, tryLargeRole, useSystemSecret } from './reported-mix.js'
import type { Servers } from './servers.js'
import { setUp, untilUsable } from './setup.js'
import { checkStore, storedKeys } from './store-check.js'
import type { Tenant, Users } from './tenant.js'
import { watch } from './watches.js'
import { create, remove, removeSome, update, writeStatus } from './writes.js'

export interface RunOptions {
  readonly seed: number
  /** `reported`: only the requests of reported-mix.ts. */
  readonly mix: 'all' | 'reported'
  /** Lanes per tenant that do what `mix` says; there are three more with `all`. */
  readonly lanes: number
  /** Bound Roles per tenant. */
  readonly roles: number
  readonly faults: readonly FaultName[]
  readonly processor?: number | undefined
  readonly isOver: (requests: number, elapsedMs: number) => boolean
  readonly checkEveryMs: number
  readonly say: (line: string) => void
}

export interface RunResult {
  readonly checks: Checks
  readonly faults: ReadonlyMap<string, number>
  readonly storeChecks: number
  readonly objects: number
}

type Step = (lane: Lane, others: readonly Tenant[]) => Promise<void>

/** What a lane does at random, as often as it is listed. */
const mixedSteps: readonly Step[] = [
  ...[create, create, create, update, update, update, patch, patch, patch, patch],
  ...[get, get, get, get, list, list, listAll, useClusterScoped],
  ...[remove, removeSome, removeSome, writeStatus, sendInvalid, intrude, review],
]
const rolesSteps: readonly Step[] = [tryLargeRole, tryLargeRole, tryLargeRole, (lane) => readLarge(lane)]
const readingSteps: readonly Step[] = [(lane) => readLarge(lane), (lane) => readLarge(lane), (lane) => readLarge(lane), intrude]

/** Per tenant: more than the server takes of one user. */
const overloadLanes = 12

export async function runTenants(servers: Servers, { tenants, system }: Users, options: RunOptions): Promise<RunResult> {
  const { seed, isOver, faults, say } = options
  const checks = new Checks(
    faults.some((name) => name !== 'clients'),
    say,
  )
  const shared = new SharedSessions()
  const contention = new Contention()
  let seeds = seed
  const nextRandom = (): Random => randomFrom(++seeds)
  const idsOf = new Map([...tenants, system].map((tenant) => [tenant, new RequestIds(tenant.letter)]))
  const newLane = (tenant: Tenant, name: string): Lane => {
    const isUnsteady = faults.includes('clients')
    const client = new TenantClient({ tenant, checks, random: nextRandom(), endpoints: servers.endpoints, shared, isUnsteady })
    return new Lane({ client, ids: idsOf.get(tenant) as RequestIds, name })
  }
  const [admin] = servers.admins()
  if (admin === undefined) throw new Error('no server is up')
  await setUp(admin, tenants, options.roles)
  for (const each of servers.admins()) for (const tenant of tenants) await untilUsable(each, tenant)
  const systemLanes = [newLane(system, 'z0'), newLane(system, 'z1')]
  await makeSystemSecrets(systemLanes[0] as Lane)
  const before = await storedKeys(admin, checks)
  checks.begin()

  const gate = new Gate()
  const lanes: Lane[] = [...systemLanes]
  let isStopped = false
  const over = (): boolean => isStopped || isOver(checks.total, checks.elapsedMs)
  const loop = async (step: () => Promise<void>, at: Gate): Promise<void> => {
    at.enter()
    while (!over()) {
      await at.pass()
      if (!over()) await step()
    }
    at.leave()
  }
  const started: Promise<unknown>[] = systemLanes.map((lane) => loop(() => useSystemSecret(lane), gate))
  for (const [index, tenant] of tenants.entries()) {
    const others = tenants.filter((each) => each !== tenant)
    const begin = (step: (lane: Lane) => Promise<void>, at = gate): void => {
      const lane = newLane(tenant, `${tenant.letter}${lanes.filter((each) => each.tenant === tenant).length}`)
      lanes.push(lane)
      started.push(loop(() => step(lane), at))
    }
    const mixLanes = (options.mix === 'reported' ? options.lanes : 1) + (faults.includes('overload') ? overloadLanes : 0)
    for (let i = 0; i < mixLanes; i++) begin((lane) => lane.random.pick(index % 2 === 0 ? rolesSteps : readingSteps)(lane, others))
    if (options.mix === 'reported') continue
    for (let i = 0; i < options.lanes; i++) begin((lane) => lane.random.pick(mixedSteps)(lane, others))
    begin((lane) => evictPods(lane, over))
    // Writes nothing, so that nobody has to wait for it.
    begin(watch, new Gate())
  }
  const injected = injectFaults(
    faultsOf({ engine: servers.engine, replicas: servers.replicas, names: faults, contention, processor: options.processor }),
    { random: nextRandom(), isOver: over, gate },
  )
  let storeChecks = 0
  let objects = 0
  const lookAtStore = async (): Promise<void> => {
    const look = servers.admins()[0]
    if (look === undefined) throw new Error('no server is up')
    objects = await checkStore({ admin: look, tenants, system, lanes, checks, before })
    storeChecks += 1
  }
  const finished = Promise.all(started)
  try {
    await periodically(options.checkEveryMs, finished, async () => {
      await gate.whileStill(lookAtStore)
      say(progressOf(checks))
    })
    const counts = await injected
    await lookAtStore()
    for (const { surprises } of servers.replicas) for (const text of surprises) checks.find('server ended', text)
    return { checks, faults: counts, storeChecks, objects }
  } finally {
    isStopped = true
    contention.close()
    shared.close()
    for (const { client } of lanes) client.close()
  }
}

/** Calls `work` every `ms` until `finished` is settled. */
async function periodically(ms: number, finished: Promise<unknown>, work: () => Promise<void>): Promise<void> {
  let isFinished = false
  const done = finished.finally(() => {
    isFinished = true
  })
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
    clearTimeout(timer)
    if (isFinished) return
    await work()
  }
}

const progressOf = (checks: Checks): string => {
  const failed = [...checks.counts.values()].reduce((sum, count) => sum + count, 0)
  return `${checks.total} requests, ${(checks.bytes / 2 ** 20).toFixed(0)} MiB searched, ${failed} findings`
}
