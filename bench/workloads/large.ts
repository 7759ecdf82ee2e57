// A store with very many small objects: the longest wait of a get beside everything that goes through all of them, and how long a start takes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdCluster, whyNoEtcd } from '../../test/etcd/etcd-cluster.js'
import { commandPath } from '../../test/kit/paths.js'
import type { RequestParts } from '../connection.js'
import { fetchOnce, fill, type Lab, makeNamespace, type Tested } from '../lab.js'
import { Prober } from '../prober.js'
import { protobufType } from '../protobuf-body.js'
import { type Line, milliseconds, say } from '../report.js'

const barMs = 20
const quietMs = 3000
const compactionSeconds = 5

const nameOf = (index: number): string => `object-${String(index).padStart(7, '0')}`
const body = (index: number): string =>
  JSON.stringify({
    metadata: { name: nameOf(index), labels: { app: 'shop', group: `g${index % 100}` } },
    data: { key: 'value '.repeat(10) },
  })

interface Store {
  readonly name: string
  readonly flags: readonly string[]
}

export async function measureLarge(lab: Lab): Promise<readonly Line[]> {
  const lines = await measureStore(lab, { name: 'embedded', flags: [] })
  if (whyNoEtcd !== undefined) return [...lines, { workload: 'large, on etcd', floor: '', server: '', note: whyNoEtcd }]
  const cluster = await EtcdCluster.start({ members: 1 })
  lab.closeLater(() => cluster.stop())
  return [...lines, ...(await measureStore(lab, { name: 'etcd', flags: [`--etcd-servers=${cluster.endpoints.join(',')}`] }))]
}

async function measureStore(lab: Lab, { name, flags }: Store): Promise<readonly Line[]> {
  const [count, doomed] = lab.isQuick ? [50_000, 10_000] : [1_000_000, 100_000]
  const server = await lab.start([...flags, '--etcd-compaction-interval=0'])
  const { served } = server
  const path = await makeNamespace(served, 'large')
  const doomedPath = await makeNamespace(served, 'doomed')
  const first = JSON.parse((await fetchOnce(served, { method: 'GET', path: `${path}?limit=1` })).body.toString()) as {
    readonly metadata: { readonly resourceVersion: string }
  }
  say(`filling a server (${name}) with ${count} objects`)
  await fill(served, { path, count, body })
  await fill(served, { path: doomedPath, count: doomed, body })
  const probed = { method: 'GET', path: '/api/v1/namespaces/default' }
  const prober = new Prober(served, probed)
  await sleep(500)
  const quiet = await longestDuring(prober, () => sleep(quietMs))
  const lines: Line[] = []
  const line = (what: string, longestMs: number): void => {
    lines.push({
      workload: `longest get beside ${what}, ${name}`,
      floor: milliseconds(quiet),
      server: milliseconds(longestMs),
      ratio: longestMs / barMs,
      bar: 1,
      note: `of ${count.toLocaleString('en')}; floor: beside nothing; ratio: to ${barMs} ms`,
    })
  }
  const get = async (parts: Omit<RequestParts, 'method'>): Promise<void> => {
    const { status } = await fetchOnce(served, { method: 'GET', ...parts })
    if (status !== 200) throw new Error(`${parts.path} is answered with ${status}`)
  }
  for (const { what, parts } of readsOf(path, first.metadata.resourceVersion)) line(what, await longestDuring(prober, () => get(parts)))
  if (name === 'embedded') line('a backup', await longestDuring(prober, () => backUp(lab, server)))
  line(
    `the deletion of a namespace with ${doomed.toLocaleString('en')}`,
    await longestDuring(prober, async () => {
      await fetchOnce(served, { method: 'DELETE', path: '/api/v1/namespaces/doomed' })
      while ((await fetchOnce(served, { method: 'GET', path: '/api/v1/namespaces/doomed' })).status !== 404) await sleep(200)
    }),
  )
  await prober.close()
  const { dataDir } = server.process
  await server.process.stop()
  const begunMs = performance.now()
  const again = await lab.startIn(dataDir, [...flags, `--etcd-compaction-interval=${compactionSeconds}s`])
  const startMs = performance.now() - begunMs
  lines.push({ workload: `start with all of them, ${name}`, floor: '', server: milliseconds(startMs) })
  const second = new Prober(again.served, probed)
  // The first compaction comes after one interval; it forgets how everything was made.
  line('a compaction', await longestDuring(second, () => sleep(4 * compactionSeconds * 1000)))
  await second.close()
  await again.process.stop()
  return lines
}

const longestDuring = async (prober: Prober, work: () => Promise<unknown>): Promise<number> => (await prober.during(work)).longestMs

const tableType = 'application/json;as=Table;v=v1;g=meta.cluster.io'

const readsOf = (path: string, since: string): readonly { readonly what: string; readonly parts: Omit<RequestParts, 'method'> }[] => [
  { what: 'the first selector list', parts: { path: `${path}?labelSelector=group%3Dg7` } },
  { what: 'a selector that picks nothing', parts: { path: `${path}?labelSelector=app!%3Dshop` } },
  { what: 'a list in JSON', parts: { path } },
  { what: 'a list in Protobuf', parts: { path, accept: protobufType } },
  { what: 'a list in YAML', parts: { path, accept: 'application/yaml' } },
  { what: 'a list as a table', parts: { path, accept: tableType } },
  { what: 'an indented list', parts: { path: `${path}?pretty=true` } },
  { what: 'a page of half of them', parts: { path: `${path}?limit=25000` } },
  { what: 'a watch from history', parts: { path: `${path}?watch=true&timeoutSeconds=8&resourceVersion=${since}` } },
  { what: 'a watch from what is there', parts: { path: `${path}?watch=true&timeoutSeconds=8` } },
]

async function backUp(lab: Lab, { process: server }: Tested): Promise<void> {
  const child = spawn(
    process.execPath,
    [commandPath, 'backup', `--from=${server.dataDir}`, `--to=${join(lab.folder, `backup-${performance.now()}`)}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const said: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`the backup failed: ${Buffer.concat(said).toString()}`)
}
