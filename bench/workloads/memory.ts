// Memory of an idle server, and of one with many objects after all were listed.

import { Connection, requestBytes } from '../connection.js'
import { memoryOf } from '../cpu-time.js'
import { fetchOnce, fill, type Lab, makeNamespace, type Tested } from '../lab.js'
import { type Line, mebibytes } from '../report.js'
import { bigBody } from './reads.js'

const mebibyte = 1024 * 1024
const idleBarBytes = 90 * mebibyte
const cacheBytes = 256 * mebibyte

export async function measureIdleMemory(lab: Lab): Promise<readonly Line[]> {
  const { process: server } = await lab.start()
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const { residentBytes } = memoryOf(server.pid)
  await server.stop()
  return [
    {
      workload: 'memory, idle',
      floor: mebibytes(idleBarBytes),
      server: mebibytes(residentBytes),
      ratio: residentBytes / idleBarBytes,
      bar: 1,
      note: 'floor: the limit',
    },
  ]
}

/** Memory of `big` above an idle server, after several lists of all objects and of the first page. */
export async function measureFullMemory(
  lab: Lab,
  { big, path, count }: { readonly big: Tested; readonly path: string; readonly count: number },
): Promise<readonly Line[]> {
  const idle = await lab.start()
  const before = memoryOf(idle.process.pid)
  await idle.process.stop()
  for (let i = 0; i < 3; i++) await fetchOnce(big.served, { method: 'GET', path })
  for (let i = 0; i < 20; i++) await fetchOnce(big.served, { method: 'GET', path: `${path}?limit=500` })
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const after = memoryOf(big.process.pid)
  const row = (workload: string, addedBytes: number, note: string): Line => ({
    workload,
    floor: mebibytes(cacheBytes),
    server: mebibytes(addedBytes),
    ratio: addedBytes / cacheBytes,
    bar: 1,
    note,
  })
  return [
    row(
      `memory, ${count.toLocaleString('en')} objects more`,
      after.anonymousBytes - before.anonymousBytes,
      'without mapped files; floor: the limit',
    ),
    {
      workload: '  with mapped files',
      floor: '',
      server: mebibytes(after.residentBytes - before.residentBytes),
      note: 'pages of the store in the page cache',
    },
  ]
}

const listedBarBytes = 200 * mebibyte
const listedObjects = 10_000
const listingClients = 4
const listsPerClient = 20

/** Resident memory with mapped files, after several clients listed everything concurrently. */
export async function measureListedMemory(lab: Lab): Promise<readonly Line[]> {
  const { served, process: server } = await lab.start()
  const path = await makeNamespace(served, 'bench-listed')
  await fill(served, { path, count: listedObjects, body: bigBody })
  const request = requestBytes(served, { method: 'GET', path })
  const listAll = async (): Promise<void> => {
    const connection = await Connection.open(served)
    for (let i = 0; i < listsPerClient; i++) {
      const status = await connection.exchange(request)
      if (status !== 200) throw new Error(`the status of a list was ${status}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: listingClients }, listAll))
  const { residentBytes } = memoryOf(server.pid)
  await server.stop()
  return [
    {
      workload: 'memory, 10,000 objects listed by 4',
      floor: mebibytes(listedBarBytes),
      server: mebibytes(residentBytes),
      ratio: residentBytes / listedBarBytes,
      bar: 1,
      note: 'resident memory; floor: the limit',
    },
  ]
}
