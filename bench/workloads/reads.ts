// Reads: GET and lists compared with a bare server, a label selector with the whole list, pages of a large collection with a small one.

import { type RequestParts, requestBytes } from '../connection.js'
import { headersOf } from '../floor.js'
import { fetchOnce, fill, type Lab, makeNamespace, type Tested } from '../lab.js'
import type { Served } from '../load.js'
import { type Comparison, compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const connections = 8
const objectBytes = 1024

async function reader(lab: Lab, served: Served, parts: RequestParts): Promise<Side> {
  const generator = await lab.generator(served, connections)
  const request = requestBytes(served, parts)
  return { run: (durationMs) => generator.run({ durationMs, next: () => request, expect: 200 }) }
}

/** Compares a read with a bare server that sends the same bytes. */
async function compareWithFloor(lab: Lab, tested: Tested, path: string): Promise<Comparison & { readonly bytes: number }> {
  const parts = { method: 'GET', path }
  const sample = await fetchOnce(tested.served, parts)
  if (sample.status !== 200) throw new Error(`${path}: status ${sample.status}`)
  const floor = await lab.floor()
  await floor.behave({ kind: 'bytes', status: 200, headers: headersOf(sample), body: sample.body.toString('base64') })
  const comparison = await compare(await reader(lab, floor.served, parts), await reader(lab, tested.served, parts), lab.rounds)
  return { ...comparison, bytes: sample.body.length }
}

const lineOf = (workload: string, { floor, server, ratio, perSecond }: Comparison, bar: number): Line => ({
  workload,
  floor: microseconds(floor),
  server: microseconds(server),
  ratio,
  bar,
  note: `${perSecond.toFixed(0)}/s`,
})

const body = (index: number, labels?: Readonly<Record<string, string>>): string =>
  configMapText({ name: `object-${String(index).padStart(6, '0')}`, bytes: objectBytes, ...(labels === undefined ? {} : { labels }) })

export async function measureGet(lab: Lab): Promise<readonly Line[]> {
  const tested = await lab.sharedServer()
  const path = await makeNamespace(tested.served, 'bench-get')
  await fill(tested.served, { path, count: 1, body })
  return [lineOf('get, 1 KB', await compareWithFloor(lab, tested, `${path}/object-000000`), 1.7)]
}

export async function measureList(lab: Lab): Promise<readonly Line[]> {
  const rows = [
    { name: 'list of 500, from the cache', tested: await lab.sharedServer(), bar: 1.4 },
    { name: 'list of 500, from the store', tested: await lab.start(['--read-cache-bytes=0']), bar: 3 },
  ]
  const lines: Line[] = []
  for (const { name, tested, bar } of rows) {
    const path = await makeNamespace(tested.served, 'bench-list')
    await fill(tested.served, { path, count: 500, body })
    lines.push(lineOf(name, await compareWithFloor(lab, tested, path), bar))
  }
  return lines
}

const selectable = 10_000

export async function measureSelector(lab: Lab): Promise<readonly Line[]> {
  const { served } = await lab.sharedServer()
  const path = await makeNamespace(served, 'bench-selector')
  await fill(served, { path, count: selectable, body: (i) => body(i, { chosen: i % 100 === 0 ? 'yes' : 'no' }) })
  await expectItems(served, path, selectable)
  await expectItems(served, `${path}?labelSelector=chosen=yes`, selectable / 100)
  const all = await reader(lab, served, { method: 'GET', path })
  const chosen = await reader(lab, served, { method: 'GET', path: `${path}?labelSelector=chosen=yes` })
  return [lineOf('1 % of 10,000 by label / all', await compare(all, chosen, lab.rounds), 1 / 20)]
}

/** Throws if a list has another number of items. */
async function expectItems(served: Served, path: string, count: number): Promise<void> {
  const { body: bytes } = await fetchOnce(served, { method: 'GET', path })
  const found = bytes.toString().split('"uid":').length - 1
  if (found !== count) throw new Error(`${path} has ${found} items instead of ${count}`)
}

/** The first page, and one in the middle, of a small and a large collection. */
export async function measurePages(lab: Lab, big: Tested, bigPath: string): Promise<readonly Line[]> {
  const small = await lab.sharedServer()
  const smallPath = await makeNamespace(small.served, 'bench-pages')
  await fill(small.served, { path: smallPath, count: 1000, body })
  const first = (path: string): RequestParts => ({ method: 'GET', path: `${path}?limit=500` })
  const lines: Line[] = []
  for (const row of [
    { name: 'first page of 500', small: first(smallPath), big: first(bigPath) },
    {
      name: 'middle page of 500',
      small: await pageAfter(small.served, smallPath, 1),
      big: await pageAfter(big.served, bigPath, lab.isQuick ? 10 : 100),
    },
  ]) {
    const comparison = await compare(await reader(lab, small.served, row.small), await reader(lab, big.served, row.big), lab.rounds)
    lines.push(lineOf(`${row.name}, big / 1,000`, comparison, 1.3))
  }
  return lines
}

async function pageAfter(served: Served, path: string, pages: number): Promise<RequestParts> {
  let next = `${path}?limit=500`
  for (let i = 0; i < pages; i++) {
    const { body: bytes } = await fetchOnce(served, { method: 'GET', path: next })
    const token = /"continue":"([^"]+)"/.exec(bytes.toString('utf8', 0, 2000))?.[1]
    if (token === undefined) throw new Error('the list has no further page')
    next = `${path}?limit=500&continue=${encodeURIComponent(token)}`
  }
  return { method: 'GET', path: next }
}

export const bigBody = body
