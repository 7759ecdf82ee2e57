// A run: all tenants concurrently, with several lanes (sequential clients) each, and checks of the store in between and at the end.

import { type Random, randomFrom } from '../kit/seeded-random.js'
import { Checks } from './check.js'
import { SharedSessions, TenantClient } from './client.js'
import { type FaultName, faultsOf, injectFaults } from './faults.js'
import { intrude, review, sendInvalid } from './intrusions.js'
import { Lane } from './lane.js'
import { PauseGate } from './pause-gate.js'
import { makeSystemSecrets, readLarge, tryLargeRole, useSystemSecret } from './reported-mix.js'
import type { Servers } from './servers.js'
import { setUp, untilUsable } from './setup.js'
import { checkStore, storedKeys } from './store-check.js'
import type { Tenant, Users } from './tenant.js'
import { Contention } from './workload/contention.js'
import { evictPods } from './workload/evictions.js'
import { patch } from './workload/patches.js'
import { RequestIds } from './workload/payload.js'
import { get, list, listAll, useClusterScoped } from './workload/reads.js'
import { watch } from './workload/watches.js'
import { create, remove, removeSome, update, writeStatus } from './workload/writes.js'

interface RunOptions {
  readonly seed: number
  /** `reported`: only large dry-run Roles, large reads in YAML, and Secrets of the system. */
  readonly mix: 'all' | 'reported'
  /** Lanes per tenant with the requests of `mix`; `all` adds three lanes. */
  readonly lanes: number
  readonly roles: number
  readonly faults: readonly FaultName[]
  readonly processor?: number | undefined
  readonly isOver: (requests: number, elapsedMs: number) => boolean
  readonly checkEveryMs: number
  readonly log: (line: string) => void
}

export interface RunResult {
  readonly checks: Checks
  readonly faults: ReadonlyMap<string, number>
  readonly storeChecks: number
  readonly objects: number
}

type Step = (lane: Lane, others: readonly Tenant[]) => Promise<void>

/** Random actions of a lane; an action is as likely as it is listed often. */
const mixedSteps: readonly Step[] = [
  ...[create, create, create, update, update, update, patch, patch, patch, patch],
  ...[get, get, get, get, list, list, listAll, useClusterScoped],
  ...[remove, removeSome, removeSome, writeStatus, sendInvalid, intrude, review],
]
const rolesSteps: readonly Step[] = [tryLargeRole, tryLargeRole, tryLargeRole, (lane) => readLarge(lane)]
const readingSteps: readonly Step[] = [(lane) => readLarge(lane), (lane) => readLarge(lane), (lane) => readLarge(lane), intrude]

/** Concurrent requests per tenant: more than the server accepts from one user. */
const overloadLanes = 12

export async function runTenants(servers: Servers, { tenants, system }: Users, options: RunOptions): Promise<RunResult> {
  const { seed, isOver, faults, log } = options
  const checks = new Checks(
    faults.some((name) => name !== 'clients'),
    log,
  )
  const shared = new SharedSessions()
  const contention = new Contention()
  let seeds = seed
  const nextRandom = (): Random => randomFrom(++seeds)
  const idsOf = new Map([...tenants, system].map((tenant) => [tenant, new RequestIds(tenant.char)]))
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

  const gate = new PauseGate()
  const lanes: Lane[] = [...systemLanes]
  let isStopped = false
  const isRunOver = (): boolean => isStopped || isOver(checks.total, checks.elapsedMs)
  const runSteps = async (step: () => Promise<void>, pauseGate: PauseGate): Promise<void> => {
    pauseGate.enter()
    while (!isRunOver()) {
      await pauseGate.pass()
      if (!isRunOver()) await step()
    }
    pauseGate.leave()
  }
  const started: Promise<unknown>[] = systemLanes.map((lane) => runSteps(() => useSystemSecret(lane), gate))
  for (const [index, tenant] of tenants.entries()) {
    const others = tenants.filter((each) => each !== tenant)
    const startLane = (step: (lane: Lane) => Promise<void>, pauseGate = gate): void => {
      const lane = newLane(tenant, `${tenant.char}${lanes.filter((each) => each.tenant === tenant).length}`)
      lanes.push(lane)
      started.push(runSteps(() => step(lane), pauseGate))
    }
    const mixLanes = (options.mix === 'reported' ? options.lanes : 1) + (faults.includes('overload') ? overloadLanes : 0)
    for (let i = 0; i < mixLanes; i++) startLane((lane) => lane.random.pick(index % 2 === 0 ? rolesSteps : readingSteps)(lane, others))
    if (options.mix === 'reported') continue
    for (let i = 0; i < options.lanes; i++) startLane((lane) => lane.random.pick(mixedSteps)(lane, others))
    startLane((lane) => evictPods(lane, isRunOver))
    // A lane that watches writes nothing, so it does not stop for checks of the store.
    startLane(watch, new PauseGate())
  }
  const injected = injectFaults(
    faultsOf({ engine: servers.engine, replicas: servers.replicas, names: faults, contention, processor: options.processor }),
    { random: nextRandom(), isOver: isRunOver, gate },
  )
  let storeChecks = 0
  let objects = 0
  const compareStore = async (): Promise<void> => {
    const admin = servers.admins()[0]
    if (admin === undefined) throw new Error('no server is up')
    objects = await checkStore({ admin, tenants, system, lanes, checks, before })
    storeChecks += 1
  }
  const finished = Promise.all(started)
  try {
    await periodically(options.checkEveryMs, finished, async () => {
      await gate.whilePaused(compareStore)
      log(progressOf(checks))
    })
    const counts = await injected
    await compareStore()
    for (const { unexpectedExits } of servers.replicas) for (const text of unexpectedExits) checks.addFinding('server ended', text)
    return { checks, faults: counts, storeChecks, objects }
  } finally {
    isStopped = true
    contention.close()
    shared.close()
    for (const { client } of lanes) client.close()
  }
}

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
