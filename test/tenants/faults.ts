// Faults from outside of the server processes: SIGSTOP, kill -9 with a restart, and single threads that hardly get any CPU time.

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'
import type { Random } from '../kit/seeded-random.js'
import type { Replica } from '../robustness/replica.js'
import { type Fault, pause } from '../robustness/subject.js'
import { increment } from './check.js'
import type { PauseGate } from './pause-gate.js'
import type { Engine } from './servers.js'
import type { BusyLoop, Contention } from './workload/contention.js'

/** `clients`: hang up, and stall while they write or read. `overload`: many more large requests at once. */
export const faultNames = ['stalls', 'threads', 'kill', 'clients', 'overload'] as const
export type FaultName = (typeof faultNames)[number]

interface FaultParts {
  readonly engine: Engine
  readonly replicas: readonly Replica[]
  readonly names: readonly FaultName[]
  readonly contention: Contention
  readonly processor: number | undefined
}

export function faultsOf({ engine, replicas, names, contention, processor }: FaultParts): readonly Fault[] {
  const faults: Fault[] = []
  if (names.includes('stalls')) faults.push({ name: 'SIGSTOP', inject: (random) => random.pick(replicas).pause(1 + random.below(200)) })
  // Not in memory: nothing would be left after a kill.
  if (names.includes('kill') && engine !== 'memory')
    faults.push({ name: 'kill -9', inject: (random) => random.pick(replicas).crash(random.below(300)) })
  if (names.includes('threads')) {
    const cpu = processor ?? 0
    const busy = contention.addBusyLoop(cpu)
    faults.push({
      name: 'starved thread',
      inject: (random) => starveThread(random.pick(replicas), { random, busy, cpu, isPinned: processor !== undefined }),
    })
  }
  return faults
}

interface StarveOptions {
  readonly random: Random
  readonly busy: BusyLoop
  readonly cpu: number
  readonly isPinned: boolean
}

/** One random thread gets the lowest priority while a busy loop runs on the CPU of all threads. */
async function starveThread({ server }: Replica, { random, busy, cpu, isPinned }: StarveOptions): Promise<void> {
  if (server === undefined) return
  const { pid } = server
  const threads = tryTo(() => readdirSync(`/proc/${pid}/task`).map(Number)) ?? []
  if (threads.length === 0) return
  const thread = random.pick(threads)
  if (!isPinned) pin(pid, String(cpu))
  tryTo(() => setPriority(thread, 19))
  busy.resume()
  await pause(20 + random.below(600))
  busy.pause()
  tryTo(() => setPriority(thread, 0))
  if (!isPinned) pin(pid, `0-${availableParallelism() - 1}`)
}

const pin = (pid: number, processors: string): void =>
  void tryTo(() => execFileSync('taskset', ['-a', '-c', '-p', processors, String(pid)], { stdio: 'ignore' }))

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

interface InjectOptions {
  readonly random: Random
  readonly isOver: () => boolean
  readonly gate: PauseGate
}

/** One fault after the other, with pauses, until the run is over. None happens while the store is checked. */
export async function injectFaults(
  faults: readonly Fault[],
  { random, isOver, gate }: InjectOptions,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  gate.enter()
  while (!isOver() && faults.length > 0) {
    await gate.pass()
    const fault = random.pick(faults)
    await fault.inject(random)
    increment(counts, fault.name)
    await pause(50 + random.below(fault.name === 'kill -9' ? 4000 : 400))
  }
  gate.leave()
  return counts
}
