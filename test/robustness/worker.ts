// A client that does one thing after another, at any server, and writes down every answer: writes of all kinds, reads, lists in pages.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiClient, Sending } from '../kit/api-client.js'
import { configMapOf } from '../kit/fixtures.js'
import type { Random } from '../kit/seeded-random.js'
import type { Version, Write, WriteVerb } from './history.js'
import { readAtRandom } from './reading.js'
import { type Recorder, versionOf } from './recorder.js'
import type { Replica } from './replica.js'

export interface WorkerInput {
  readonly name: string
  readonly path: string
  readonly replicas: readonly Replica[]
  readonly recorder: Recorder
  readonly random: Random
}

export const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
export const groups = ['x', 'y']

/** What a write says of itself before it is sent. */
type Plan = Omit<Write, 'what' | 'client' | 'server' | 'startMs' | 'endMs' | 'outcome'> & { readonly sending: Sending }

export class Worker {
  readonly #input: WorkerInput

  constructor(input: WorkerInput) {
    this.#input = input
  }

  async work(): Promise<void> {
    const { recorder, random, replicas } = this.#input
    while (!recorder.isOver) {
      const replica = random.pick(replicas)
      const { client } = replica
      if (client === undefined) await sleep(20)
      else if (random.next() < 0.6) await this.#write(client, replica.name)
      else await readAtRandom({ ...this.#input, client, server: replica.name })
      await sleep(random.below(12))
    }
  }

  async #write(client: ApiClient, server: string): Promise<void> {
    const { recorder, name, random } = this.#input
    const { sending, ...plan } = this.#plan()
    const startMs = performance.now()
    const answer = await client.send({ ...sending, signal: this.#patience() }).catch((error: unknown) => error)
    const endMs = performance.now()
    // Nobody was there to take it.
    if (isRefusedConnection(answer)) return
    const outcome = outcomeOf(answer)
    if (outcome.kind === 'ok' && outcome.version !== undefined) recorder.saw(outcome.version)
    // Mostly: so that changes are tried for keys that are gone, too.
    if (outcome.kind === 'ok' && plan.verb === 'delete' && random.next() < 0.8) recorder.newest.delete(plan.key)
    if (outcome.kind === 'unknown') recorder.trouble(`write: ${outcome.why}`)
    recorder.note({ what: 'write', ...plan, client: name, server, startMs, endMs, outcome })
  }

  /** Most wait; some lose patience while an outage lasts, and a few at once, so that answers are lost when nothing else is wrong. */
  #patience(): AbortSignal {
    const { random } = this.#input
    if (random.next() < 0.03) return AbortSignal.timeout(random.below(15))
    return AbortSignal.timeout(random.next() < 0.2 ? 12_000 : 2_500)
  }

  #plan(): Plan {
    const { random, recorder } = this.#input
    const key = random.pick(keys)
    const known = recorder.newest.get(key)
    const verb = this.#verb(known)
    if (known === undefined || verb === 'create') return this.#create(key)
    if (verb === 'update') return this.#update(key, known)
    return verb === 'patch' ? this.#patch(key, known) : this.#delete(key, known)
  }

  /** Creation is tried for keys that are there, too. */
  #verb(known: Version | undefined): WriteVerb {
    if (known === undefined) return 'create'
    const chance = this.#input.random.next()
    if (chance < 0.1) return 'create'
    if (chance < 0.5) return 'update'
    return chance < 0.8 ? 'patch' : 'delete'
  }

  #create(key: string): Plan {
    const { random, recorder, name, path } = this.#input
    const mark = recorder.nextMark(name)
    const group = random.pick(groups)
    const body = configMapOf(key, { labels: { group }, data: { v: mark, p: '', x: this.#padding() } })
    return { verb: 'create', key, mark, group, sending: { method: 'POST', path, body } }
  }

  #update(key: string, known: Version): Plan {
    const { random, recorder, name, path } = this.#input
    const mark = recorder.nextMark(name)
    const group = random.pick(groups)
    const isConditional = random.next() < 0.75
    const object = configMapOf(key, { labels: { group }, data: { v: mark, p: '', x: this.#padding() } })
    const version = isConditional ? { resourceVersion: String(known.revision) } : {}
    const body = { ...object, metadata: { ...object.metadata, ...version } }
    return {
      verb: 'update',
      key,
      mark,
      group,
      ...(isConditional ? { expectRevision: known.revision } : {}),
      sending: { method: 'PUT', path: `${path}/${key}`, body },
    }
  }

  #patch(key: string, known: Version): Plan {
    const { random, recorder, name, path } = this.#input
    const mark = recorder.nextMark(name)
    const common = { verb: 'patch', key, mark } as const
    const sending = { method: 'PATCH', path: `${path}/${key}` }
    const chance = random.next()
    if (chance < 0.3) {
      const body = [
        { op: 'test', path: '/data/v', value: known.v },
        { op: 'replace', path: '/data/p', value: mark },
      ]
      return { ...common, expectV: known.v, sending: { ...sending, body, headers: { 'content-type': 'application/json-patch+json' } } }
    }
    const group = random.next() < 0.5 ? { group: random.pick(groups) } : {}
    const isConditional = chance < 0.5
    const metadata = { labels: group, ...(isConditional ? { resourceVersion: String(known.revision) } : {}) }
    const body = { metadata, data: { p: mark } }
    return {
      ...common,
      ...group,
      ...(isConditional ? { expectRevision: known.revision } : {}),
      sending: { ...sending, body, headers: { 'content-type': 'application/merge-patch+json' } },
    }
  }

  #delete(key: string, known: Version): Plan {
    const { random, path } = this.#input
    const common = { verb: 'delete', key, mark: '' } as const
    const sending = { method: 'DELETE', path: `${path}/${key}` }
    const chance = random.next()
    if (chance < 0.4) return { ...common, sending }
    if (chance < 0.7) return { ...common, expectUid: known.uid, sending: { ...sending, body: { preconditions: { uid: known.uid } } } }
    const body = { preconditions: { resourceVersion: String(known.revision) } }
    return { ...common, expectRevision: known.revision, sending: { ...sending, body } }
  }

  /** Some values are long, so that pages of the store are split and freed. */
  #padding(): string {
    const { random } = this.#input
    return 'x'.repeat(random.below(20) === 0 ? random.below(20_000) : random.below(100))
  }
}

export function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

export const whyOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.name) : String(error)

function outcomeOf(answer: Answer | unknown): Write['outcome'] {
  if (!isAnswer(answer)) return { kind: 'unknown', why: whyOf(answer) }
  const { status } = answer
  if (status >= 500) return { kind: 'unknown', why: `${status} ${answer.text.slice(0, 160)}` }
  const { json } = answer
  if (status >= 400) return { kind: 'refused', status, reason: `${json.reason}: ${json.message}` }
  // The answer to a deletion is a Status with the uid of what was deleted.
  if (json.kind === 'Status') return { kind: 'ok', uid: json.details?.uid ?? '' }
  return { kind: 'ok', version: versionOf(json) }
}

const isAnswer = (value: unknown): value is Answer => typeof value === 'object' && value !== null && 'status' in value && 'headers' in value
