// System under test: one server with the embedded store, on a small disk that can be filled if this process may mount one.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../kit/seeded-random.js'
import { newFolder } from '../kit/server-process.js'
import { Replica } from './replica.js'
import { addressFlag } from './service-addresses.js'
import { type Fault, pause, processFaults, type Subject } from './subject.js'

/** Large enough for the write-ahead log, until the disk is filled. */
const diskMegabytes = 400

interface SubjectOptions {
  readonly compactsHistory: boolean
  /** Worker processes; default: the server is one process. */
  readonly workers?: number
}

export async function startLmdbSubject({ compactsHistory, workers = 1 }: SubjectOptions): Promise<Subject> {
  const disk = newFolder()
  const isMounted = tryMount(disk)
  const dataDir = join(disk, 'data')
  mkdirSync(dataDir)
  const flags = [addressFlag, `--etcd-compaction-interval=${compactsHistory ? '2s' : '1h'}`, `--workers=${workers}`]
  const replica = new Replica({ name: 's0', dataDir, flags })
  await replica.start()
  const filler = join(disk, 'filler')
  return {
    name: workers === 1 ? 'lmdb' : `lmdb with ${workers} workers`,
    replicas: [replica],
    faults: [processFaults([replica]), isMounted ? [fullDisk(filler)] : [], workers === 1 ? [] : workerFaults(replica)],
    compactsHistory,
    skippedFaults: isMounted ? [] : ['full disk (mounting a small disk is not allowed here)'],
    heal: async () => rmSync(filler, { force: true }),
    close: async () => {
      await replica.close()
      if (isMounted) execFileSync('umount', [disk])
      rmSync(disk, { recursive: true, force: true })
    },
  }
}

function tryMount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}

/** The process runs for a fifth of the time only. */
async function slowDown(random: Random, pid: number | undefined): Promise<void> {
  if (pid === undefined) return pause(200)
  for (let pulses = 10 + random.below(30); pulses > 0; pulses--) {
    signal(pid, 'SIGSTOP')
    await pause(40)
    signal(pid, 'SIGCONT')
    await pause(10)
  }
}

function workerFaults(replica: Replica): readonly Fault[] {
  return [
    {
      name: 'kill -9 of a worker',
      inject: async (random) => {
        const workers = replica.server?.workers ?? []
        if (workers.length > 0) signal(random.pick(workers), 'SIGKILL')
        await pause(random.below(1500))
      },
    },
    {
      name: 'SIGSTOP of a worker',
      inject: async (random) => {
        const workers = replica.server?.workers ?? []
        if (workers.length === 0) return pause(200)
        const pid = random.pick(workers)
        signal(pid, 'SIGSTOP')
        await pause(100 + random.below(2500))
        signal(pid, 'SIGCONT')
      },
    },
    { name: 'slow worker', inject: (random) => slowDown(random, random.pick(replica.server?.workers ?? [])) },
    { name: 'slow primary', inject: (random) => slowDown(random, replica.server?.pid) },
  ]
}

function fullDisk(filler: string): Fault {
  return {
    name: 'full disk',
    inject: async (random) => {
      fillDisk(filler)
      await pause(300 + random.below(1500))
      rmSync(filler, { force: true })
      await pause(random.below(2000))
    },
  }
}

function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [1 << 20, 4096]) while (tryWrite(file, size));
  } finally {
    closeSync(file)
  }
}

function tryWrite(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size
  } catch {
    return false
  }
}
