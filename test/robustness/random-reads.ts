// Reads and lists of a random kind: of now, of any time, of a version that was seen, whole or in pages, with a selector or without.

import type { Answer, ApiClient, Sending } from '../kit/api-client.js'
import type { Random } from '../kit/seeded-random.js'
import type { Freshness, Page } from './history.js'
import { type Recorder, versionOf } from './recorder.js'
import { groups, keys, whyOf } from './worker.js'

export interface Reading {
  readonly name: string
  readonly path: string
  readonly client: ApiClient
  readonly server: string
  readonly recorder: Recorder
  readonly random: Random
}

const patienceMs = 6_000
const recentRevisions = 400

export async function readAtRandom(reading: Reading): Promise<void> {
  if (reading.random.next() < 0.5) await readOne(reading)
  else await list(reading)
}

/** A version of not long ago, most often. */
export function pastRevision({ recorder, random }: Pick<Reading, 'recorder' | 'random'>): number | undefined {
  const { revisions } = recorder
  const back = random.next() < 0.7 ? Math.min(recentRevisions, revisions.length) : revisions.length
  return revisions[revisions.length - 1 - random.below(Math.max(1, back))]
}

async function readOne(reading: Reading): Promise<void> {
  const { random, path, recorder, name, server } = reading
  const key = random.pick(keys)
  const past = pastRevision(reading)
  const freshness: Freshness = random.next() < 0.7 ? 'recent' : past === undefined || random.next() < 0.5 ? 'any' : { least: past }
  const startMs = performance.now()
  // A patch that changes nothing must look as closely as a read of now: it answers that what it wants is so.
  const isPatch = freshness === 'recent' && random.next() < 0.2
  const answer = await (isPatch ? patchNothing(reading, key) : ask(reading, `${path}/${key}?${queryOf(freshness)}`))
  const endMs = performance.now()
  if (answer === undefined || (answer.status !== 200 && answer.status !== 404)) return fail(reading, { what: 'get', freshness, answer })
  const found = answer.status === 200 ? recorder.saw(versionOf(answer.json)) : undefined
  recorder.note({ what: 'read', client: name, server, startMs, endMs, key, freshness, found })
}

async function list(reading: Reading): Promise<void> {
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
    const answer = await ask(reading, `${path}?limit=${limit}${selector}&${query}`)
    if (answer?.status !== 200) {
      fail(reading, { what: next === undefined ? 'list' : 'next page', freshness, answer })
      break
    }
    if (pages.length === 0) endMs = performance.now()
    const { metadata, items } = answer.json
    pages.push({ revision: Number(metadata.resourceVersion), versions: items.map((item) => recorder.saw(versionOf(item))) })
    recorder.passed(Number(metadata.resourceVersion))
    next = metadata.continue
    // Time for others to change what is on the pages to come.
    if (next !== undefined && random.next() < 0.3) await new Promise((resolve) => setTimeout(resolve, random.below(60)))
  } while (next !== undefined && next !== '')
  if (pages.length > 0) recorder.note({ what: 'list', client: name, server, startMs, endMs, freshness, group, pages, isWhole: !next })
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

const patchNothing = (reading: Reading, key: string): Promise<Answer | undefined> =>
  ask(reading, `${reading.path}/${key}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { name: key } },
  })

function ask({ client, recorder }: Reading, path: string, sending: Partial<Sending> = {}): Promise<Answer | undefined> {
  return client.send({ ...sending, path, signal: AbortSignal.timeout(patienceMs) }).catch((error: unknown) => {
    recorder.trouble(`read: ${whyOf(error)}`)
    return undefined
  })
}

interface Failure {
  readonly what: string
  readonly freshness: Freshness
  readonly answer: Answer | undefined
}

/** Reads of any age need nobody else, so nothing keeps a server that answers from answering them. */
function fail({ recorder, server }: Reading, { what, freshness, answer }: Failure): void {
  if (freshness === 'any' && (answer?.status ?? 0) >= 500)
    recorder.wrongs.push(`${what} of any age at ${server}: ${answer?.text.slice(0, 300)}`)
  if (answer !== undefined) recorder.trouble(`${what}: ${answer.status} ${answer.status === 410 ? '' : answer.text.slice(0, 160)}`.trim())
}
