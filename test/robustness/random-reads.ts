// Random reads and lists: latest, any, at least or exactly a version, whole or in pages, with or without a selector.

import type { ApiClient, ApiRequest, ApiResponse } from '../kit/api-client.js'
import type { Random } from '../kit/seeded-random.js'
import type { Freshness, Page } from './history.js'
import { type Recorder, versionOf } from './recorder.js'
import { groups, keys, reasonOf } from './worker.js'

interface RandomRead {
  readonly name: string
  readonly path: string
  readonly client: ApiClient
  readonly server: string
  readonly recorder: Recorder
  readonly random: Random
}

const timeoutMs = 6_000
const recentRevisions = 400

export async function readAtRandom(reading: RandomRead): Promise<void> {
  if (reading.random.next() < 0.5) await readOne(reading)
  else await list(reading)
}

/** Usually a recent version. */
export function pastRevision({ recorder, random }: Pick<RandomRead, 'recorder' | 'random'>): number | undefined {
  const { revisions } = recorder
  const back = random.next() < 0.7 ? Math.min(recentRevisions, revisions.length) : revisions.length
  return revisions[revisions.length - 1 - random.below(Math.max(1, back))]
}

async function readOne(reading: RandomRead): Promise<void> {
  const { random, path, recorder, name, server } = reading
  const key = random.pick(keys)
  const past = pastRevision(reading)
  const freshness: Freshness = random.next() < 0.7 ? 'recent' : past === undefined || random.next() < 0.5 ? 'any' : { least: past }
  const startMs = performance.now()
  // A patch without changes must be as consistent as a read: its response confirms the state.
  const isPatch = freshness === 'recent' && random.next() < 0.2
  const response = await (isPatch ? patchNothing(reading, key) : send(reading, `${path}/${key}?${queryOf(freshness)}`))
  const endMs = performance.now()
  if (response === undefined || (response.status !== 200 && response.status !== 404))
    return fail(reading, { request: 'get', freshness, response })
  const found = response.status === 200 ? recorder.recordVersion(versionOf(response.json)) : undefined
  recorder.record({ type: 'read', client: name, server, startMs, endMs, key, freshness, found })
}

async function list(reading: RandomRead): Promise<void> {
  const { random, path, recorder, name, server } = reading
  const past = pastRevision(reading)
  const limit = random.next() < 0.6 ? 1 + random.below(4) : 0
  const freshness = listFreshness(random, past)
  const group = random.next() < 0.2 ? random.pick(groups) : undefined
  const selector = group === undefined ? '' : `&labelSelector=group%3D${group}`
  const pages: Page[] = []
  const startMs = performance.now()
  let endMs = startMs
  let next: string | undefined
  do {
    const query = next === undefined ? listQueryOf(freshness) : `continue=${encodeURIComponent(next)}`
    const response = await send(reading, `${path}?limit=${limit}${selector}&${query}`)
    if (response?.status !== 200) {
      fail(reading, { request: next === undefined ? 'list' : 'next page', freshness, response })
      break
    }
    if (pages.length === 0) endMs = performance.now()
    const { metadata, items } = response.json
    pages.push({ revision: Number(metadata.resourceVersion), versions: items.map((item) => recorder.recordVersion(versionOf(item))) })
    recorder.recordRevision(Number(metadata.resourceVersion))
    next = metadata.continue
    // Lets other clients change objects of later pages.
    if (next !== undefined && random.next() < 0.3) await new Promise((resolve) => setTimeout(resolve, random.below(60)))
  } while (next !== undefined && next !== '')
  if (pages.length > 0) recorder.record({ type: 'list', client: name, server, startMs, endMs, freshness, group, pages, isWhole: !next })
}

function listFreshness(random: Random, past: number | undefined): Freshness {
  const chance = random.next()
  if (chance < 0.6 || past === undefined) return 'recent'
  if (chance < 0.75) return 'any'
  return chance < 0.9 ? { exactly: past } : { least: past }
}

function queryOf(freshness: Freshness): string {
  if (freshness === 'recent') return ''
  if (freshness === 'any') return 'resourceVersion=0'
  if ('exactly' in freshness) return `resourceVersion=${freshness.exactly}&resourceVersionMatch=Exact`
  return `resourceVersion=${freshness.least}`
}

const listQueryOf = (freshness: Freshness): string =>
  `${queryOf(freshness)}${typeof freshness === 'object' && 'least' in freshness ? '&resourceVersionMatch=NotOlderThan' : ''}`

const patchNothing = (reading: RandomRead, key: string): Promise<ApiResponse | undefined> =>
  send(reading, `${reading.path}/${key}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { name: key } },
  })

function send({ client, recorder }: RandomRead, path: string, request: Partial<ApiRequest> = {}): Promise<ApiResponse | undefined> {
  return client.send({ ...request, path, signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    recorder.countProblem(`read: ${reasonOf(error)}`)
    return undefined
  })
}

interface Failure {
  readonly request: string
  readonly freshness: Freshness
  readonly response: ApiResponse | undefined
}

/** Counts failed reads. Reads with resourceVersion=0 need neither etcd nor another server, so a status of 500 or more is wrong. */
function fail({ recorder, server }: RandomRead, { request, freshness, response }: Failure): void {
  if (freshness === 'any' && (response?.status ?? 0) >= 500)
    recorder.wrongResponses.push(`${request} of any age at ${server}: ${response?.text.slice(0, 300)}`)
  if (response !== undefined)
    recorder.countProblem(`${request}: ${response.status} ${response.status === 410 ? '' : response.text.slice(0, 160)}`.trim())
}
