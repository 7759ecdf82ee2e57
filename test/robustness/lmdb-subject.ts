// One server with the embedded store, on a small disk that can be filled, if this process may mount one.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../kit/server-process.js'
import { addressFlag } from './addresses.js'
import { Replica } from './replica.js'
import { type Fault, pause, processFaults, type Subject } from './subject.js'

/** So much that the store uses its log, until the disk is filled: then it goes without. */
const diskMegabytes = 400

export async function startLmdbSubject({ forgets }: { readonly forgets: boolean }): Promise<Subject> {
  const disk = newFolder()
  const isMounted = tryMount(disk)
  const dataDir = join(disk, 'data')
  mkdirSync(dataDir)
  const replica = new Replica({ name: 's0', dataDir, flags: [addressFlag, `--etcd-compaction-interval=${forgets ? '2s' : '1h'}`] })
  await replica.start()
  const filler = join(disk, 'filler')
  return {
    name: 'lmdb',
    replicas: [replica],
    faults: [processFaults([replica]), isMounted ? [fullDisk(filler)] : []],
    forgets,
    leftOut: isMounted ? [] : ['full disk (mounting a small disk is not allowed here)'],
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

function fullDisk(filler: string): Fault {
  return {
    name: 'full disk',
    happen: async (random) => {
      fill(filler)
      await pause(300 + random.below(1500))
      rmSync(filler, { force: true })
      await pause(random.below(2000))
    },
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [1 << 20, 4096]) while (writes(file, size));
  } finally {
    closeSync(file)
  }
}

function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size
  } catch {
    return false
  }
}
