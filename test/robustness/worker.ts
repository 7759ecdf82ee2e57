// Client that sends random writes, reads and paged lists to random servers, and records every response.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient, ApiRequest, ApiResponse } from '../kit/api-client.js'
import { configMapOf } from '../kit/fixtures.js'
import type { Random } from '../kit/seeded-random.js'
import type { Version, Write, WriteVerb } from './history.js'
import { readAtRandom } from './random-reads.js'
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

/** A write before it is sent. */
type Plan = Omit<Write, 'type' | 'client' | 'server' | 'startMs' | 'endMs' | 'outcome'> & { readonly request: ApiRequest }

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
    const { request, ...plan } = this.#plan()
    const startMs = performance.now()
    const response = await client.send({ ...request, signal: this.#abortSignal() }).catch((error: unknown) => error)
    const endMs = performance.now()
    // The server was down, so nothing was sent.
    if (isRefusedConnection(response)) return
    const outcome = outcomeOf(response)
    if (outcome.kind === 'ok' && outcome.version !== undefined) recorder.recordVersion(outcome.version)
    // Not after each deletion, so that updates of deleted keys are tried, too.
    if (outcome.kind === 'ok' && plan.verb === 'delete' && random.next() < 0.8) recorder.newest.delete(plan.key)
    if (outcome.kind === 'unknown') recorder.countProblem(`write: ${outcome.why}`)
    recorder.record({ type: 'write', ...plan, client: name, server, startMs, endMs, outcome })
  }

  /** Aborts requests that take too long, as in an outage, and a few within 15 ms, so that responses are lost without a fault. */
  #abortSignal(): AbortSignal {
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

  /** Creates of existing keys are tried, too. */
  #verb(known: Version | undefined): WriteVerb {
    if (known === undefined) return 'create'
    const chance = this.#input.random.next()
    if (chance < 0.1) return 'create'
    if (chance < 0.5) return 'update'
    return chance < 0.8 ? 'patch' : 'delete'
  }

  #create(key: string): Plan {
    const { random, recorder, name, path } = this.#input
    const writeId = recorder.nextWriteId(name)
    const group = random.pick(groups)
    const body = configMapOf(key, { labels: { group }, data: { v: writeId, p: '', x: this.#padding() } })
    return { verb: 'create', key, writeId, group, request: { method: 'POST', path, body } }
  }

  #update(key: string, known: Version): Plan {
    const { random, recorder, name, path } = this.#input
    const writeId = recorder.nextWriteId(name)
    const group = random.pick(groups)
    const isConditional = random.next() < 0.75
    const object = configMapOf(key, { labels: { group }, data: { v: writeId, p: '', x: this.#padding() } })
    const version = isConditional ? { resourceVersion: String(known.revision) } : {}
    const body = { ...object, metadata: { ...object.metadata, ...version } }
    return {
      verb: 'update',
      key,
      writeId,
      group,
      ...(isConditional ? { expectRevision: known.revision } : {}),
      request: { method: 'PUT', path: `${path}/${key}`, body },
    }
  }

  #patch(key: string, known: Version): Plan {
    const { random, recorder, name, path } = this.#input
    const writeId = recorder.nextWriteId(name)
    const common = { verb: 'patch', key, writeId } as const
    const request = { method: 'PATCH', path: `${path}/${key}` }
    const chance = random.next()
    if (chance < 0.3) {
      const body = [
        { op: 'test', path: '/data/v', value: known.v },
        { op: 'replace', path: '/data/p', value: writeId },
      ]
      return { ...common, expectV: known.v, request: { ...request, body, headers: { 'content-type': 'application/json-patch+json' } } }
    }
    const group = random.next() < 0.5 ? { group: random.pick(groups) } : {}
    const isConditional = chance < 0.5
    const metadata = { labels: group, ...(isConditional ? { resourceVersion: String(known.revision) } : {}) }
    const body = { metadata, data: { p: writeId } }
    return {
      ...common,
      ...group,
      ...(isConditional ? { expectRevision: known.revision } : {}),
      request: { ...request, body, headers: { 'content-type': 'application/merge-patch+json' } },
    }
  }

  #delete(key: string, known: Version): Plan {
    const { random, path } = this.#input
    const common = { verb: 'delete', key, writeId: '' } as const
    const request = { method: 'DELETE', path: `${path}/${key}` }
    const chance = random.next()
    if (chance < 0.4) return { ...common, request }
    if (chance < 0.7) return { ...common, expectUid: known.uid, request: { ...request, body: { preconditions: { uid: known.uid } } } }
    const body = { preconditions: { resourceVersion: String(known.revision) } }
    return { ...common, expectRevision: known.revision, request: { ...request, body } }
  }

  /** Some values are long, so that pages of the store are split and freed. */
  #padding(): string {
    const { random } = this.#input
    return 'x'.repeat(random.below(20) === 0 ? random.below(20_000) : random.below(100))
  }
}

function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.name) : String(error)

function outcomeOf(response: ApiResponse | unknown): Write['outcome'] {
  if (!isResponse(response)) return { kind: 'unknown', why: reasonOf(response) }
  const { status } = response
  if (status >= 500) return { kind: 'unknown', why: `${status} ${response.text.slice(0, 160)}` }
  const { json } = response
  if (status >= 400) return { kind: 'refused', status, reason: `${json.reason}: ${json.message}` }
  // The response to a delete is a Status with the uid.
  if (json.kind === 'Status') return { kind: 'ok', uid: json.details?.uid ?? '' }
  return { kind: 'ok', version: versionOf(json) }
}

const isResponse = (value: unknown): value is ApiResponse =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value
