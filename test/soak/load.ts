// What clients do all day, at a steady pace: read, write, watch, make namespaces with something in them and delete them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from '../kit/api-client.js'
import { configMapOf } from '../kit/fixtures.js'
import type { Random } from '../kit/seeded-random.js'
import type { WatchStream } from '../kit/watch-stream.js'

export interface LoadOptions {
  readonly client: ApiClient
  readonly random: Random
  /** Requests a second, all loops together. */
  readonly rate: number
}

const kinds = ['configmaps', 'secrets', 'events'] as const
const namespace = 'soak'
const keysPerKind = 200
const mostWatches = 20
/** Of each sort: so many that write, so many that read. */
const clients = 6

export class Load {
  requests = 0
  watches = 0
  namespaces = 0
  readonly failures = new Map<string, number>()
  readonly #options: LoadOptions
  readonly #open = new Set<WatchStream>()
  #isOver = false
  #events = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  get events(): number {
    return this.#events
  }

  /** Resolves when `stop` was called and everything is at rest. */
  async run(): Promise<void> {
    await this.#ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } }, [201, 409])
    const share = this.#options.rate / (2 * clients)
    await Promise.all([
      ...Array.from({ length: clients }, () => this.#steadily(share, () => this.#write())),
      ...Array.from({ length: clients }, () => this.#steadily(share, () => this.#read())),
      this.#steadily(Math.max(share / 4, 0.5), () => this.#watch()),
      this.#steadily(Math.max(share / 20, 0.2), () => this.#comeAndGo()),
    ])
    for (const stream of this.#open) stream.close()
  }

  stop(): void {
    this.#isOver = true
  }

  /** At a pace, and one at a time: a server that is slow is asked less, and not by more and more at once. */
  async #steadily(perSecond: number, work: () => Promise<void>): Promise<void> {
    let nextMs = performance.now()
    while (!this.#isOver) {
      await work()
      nextMs = Math.max(nextMs + 1000 / perSecond, performance.now())
      await sleep(nextMs - performance.now())
    }
  }

  async #write(): Promise<void> {
    const { random } = this.#options
    const kind = random.pick(kinds)
    const name = `${kind}-${random.below(keysPerKind)}`
    const path = `/api/v1/namespaces/${namespace}/${kind}`
    const chance = random.next()
    if (chance < 0.3) await this.#ask('POST', path, objectOf(kind, { name, place: namespace }, random), [201, 409])
    else if (chance < 0.5) await this.#ask('DELETE', `${path}/${name}`, undefined, [200, 404])
    else if (chance < 0.75)
      await this.#ask('PUT', `${path}/${name}`, objectOf(kind, { name, place: namespace }, random), [200, 201, 404, 409])
    else await this.#ask('PATCH', `${path}/${name}`, { metadata: { annotations: { a: text(random, 300) } } }, [200, 404, 409])
  }

  async #read(): Promise<void> {
    const { random } = this.#options
    const kind = random.pick(kinds)
    const path = `/api/v1/namespaces/${namespace}/${kind}`
    const chance = random.next()
    if (chance < 0.4) await this.#ask('GET', `${path}/${kind}-${random.below(keysPerKind)}`, undefined, [200, 404])
    else if (chance < 0.6) await this.#ask('GET', `${path}?limit=${1 + random.below(50)}`, undefined, [200])
    else if (chance < 0.7) await this.#ask('GET', `${path}?labelSelector=group%3Dg${random.below(5)}`, undefined, [200])
    else if (chance < 0.8) await this.#ask('GET', path, undefined, [200], { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' })
    else if (chance < 0.9) await this.#ask('GET', path, undefined, [200], { 'accept-encoding': 'gzip' })
    else await this.#ask('GET', random.pick(['/metrics', '/readyz', '/openapi/v3', '/apis', '/version']), undefined, [200])
  }

  async #watch(): Promise<void> {
    const { client, random } = this.#options
    const kind = random.pick(kinds)
    const query = random.next() < 0.5 ? 'resourceVersion=0&' : ''
    const path = `/api/v1/namespaces/${namespace}/${kind}?watch=1&${query}allowWatchBookmarks=true&timeoutSeconds=${1 + random.below(120)}`
    const stream = await client.watch(path).catch((error: unknown) => this.#fail(`watch: ${error}`))
    if (stream === undefined) return
    this.watches += 1
    this.#open.add(stream)
    void stream.ended.then(() => {
      this.#events += stream.events.length
      this.#open.delete(stream)
    })
    const [oldest] = this.#open
    if (this.#open.size > mostWatches || random.next() < 0.3) oldest?.close()
  }

  /** A namespace with something in it, deleted as a whole. */
  async #comeAndGo(): Promise<void> {
    const { random, client } = this.#options
    this.namespaces += 1
    const name = `passing-${this.namespaces}`
    await this.#ask('POST', '/api/v1/namespaces', { metadata: { name } }, [201])
    for (let i = 0; i < 5; i += 1) {
      const kind = random.pick(kinds)
      await this.#ask('POST', `/api/v1/namespaces/${name}/${kind}`, objectOf(kind, { name: `o${i}`, place: name }, random), [201])
    }
    await this.#ask('DELETE', `/api/v1/namespaces/${name}`, undefined, [200])
    const until = performance.now() + 60_000
    for (;;) {
      const answer = await client.get(`/api/v1/namespaces/${name}`).catch(() => undefined)
      if (answer?.status === 404) return
      if (performance.now() > until) return this.#fail(`the namespace ${name} does not go`)
      await sleep(200)
    }
  }

  async #ask(
    method: string,
    path: string,
    body: unknown,
    expected: readonly number[],
    headers: Readonly<Record<string, string>> = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {},
  ): Promise<void> {
    this.requests += 1
    try {
      const { status, text: answer } = await this.#options.client.send({ method, path, headers, ...(body === undefined ? {} : { body }) })
      if (!expected.includes(status)) this.#fail(`${method} ${path}: ${status} ${answer.slice(0, 200)}`)
    } catch (error) {
      this.#fail(`${method} ${path}: ${error}`)
    }
  }

  #fail(text: string): undefined {
    const what = text.replace(/\d{2,}/g, 'n')
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1)
    return undefined
  }
}

function text(random: Random, most: number): string {
  return random.next().toString(36).repeat(30).slice(0, random.below(most))
}

function objectOf(
  kind: (typeof kinds)[number],
  { name, place }: { readonly name: string; readonly place: string },
  random: Random,
): unknown {
  const labels = { group: `g${random.below(5)}` }
  const { metadata } = configMapOf(name, { labels })
  if (kind === 'events')
    return { metadata, involvedObject: { namespace: place, kind: 'Pod', name }, message: text(random, 500), reason: 'Soak' }
  const value = text(random, random.below(50) === 0 ? 300 : 2000)
  return { metadata, data: { value: kind === 'secrets' ? Buffer.from(value).toString('base64') : value } }
}
