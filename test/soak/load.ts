// Constant load: reads, writes, watches, and namespaces that are created and deleted.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from '../kit/api-client.js'
import { configMapOf } from '../kit/fixtures.js'
import type { WatchStream } from '../kit/network/watch-stream.js'
import type { Random } from '../kit/seeded-random.js'

interface LoadOptions {
  readonly client: ApiClient
  readonly random: Random
  /** Requests per second in total. */
  readonly rate: number
}

const kinds = ['configmaps', 'secrets', 'events'] as const
const namespace = 'soak'
const keysPerKind = 200
const maxWatches = 20
/** Number of writers, and of readers. */
const clients = 6

export class Load {
  requests = 0
  watches = 0
  namespaces = 0
  readonly failures = new Map<string, number>()
  readonly #options: LoadOptions
  readonly #openWatches = new Set<WatchStream>()
  #isOver = false
  #events = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  get events(): number {
    return this.#events
  }

  /** Resolves when `stop` was called and all requests have ended. */
  async run(): Promise<void> {
    await this.#send('POST', '/api/v1/namespaces', { metadata: { name: namespace } }, [201, 409])
    const share = this.#options.rate / (2 * clients)
    await Promise.all([
      ...Array.from({ length: clients }, () => this.#runAtRate(share, () => this.#write())),
      ...Array.from({ length: clients }, () => this.#runAtRate(share, () => this.#read())),
      this.#runAtRate(Math.max(share / 4, 0.5), () => this.#watch()),
      this.#runAtRate(Math.max(share / 20, 0.2), () => this.#createAndDeleteNamespace()),
    ])
    for (const stream of this.#openWatches) stream.close()
  }

  stop(): void {
    this.#isOver = true
  }

  /** One request at a time at a fixed rate: a slow server gets fewer requests, not more in parallel. */
  async #runAtRate(perSecond: number, work: () => Promise<void>): Promise<void> {
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
    if (chance < 0.3) await this.#send('POST', path, objectOf(kind, { name, namespace }, random), [201, 409])
    else if (chance < 0.5) await this.#send('DELETE', `${path}/${name}`, undefined, [200, 404])
    else if (chance < 0.75) await this.#send('PUT', `${path}/${name}`, objectOf(kind, { name, namespace }, random), [200, 201, 404, 409])
    else await this.#send('PATCH', `${path}/${name}`, { metadata: { annotations: { a: text(random, 300) } } }, [200, 404, 409])
  }

  async #read(): Promise<void> {
    const { random } = this.#options
    const kind = random.pick(kinds)
    const path = `/api/v1/namespaces/${namespace}/${kind}`
    const chance = random.next()
    if (chance < 0.4) await this.#send('GET', `${path}/${kind}-${random.below(keysPerKind)}`, undefined, [200, 404])
    else if (chance < 0.6) await this.#send('GET', `${path}?limit=${1 + random.below(50)}`, undefined, [200])
    else if (chance < 0.7) await this.#send('GET', `${path}?labelSelector=group%3Dg${random.below(5)}`, undefined, [200])
    else if (chance < 0.8) await this.#send('GET', path, undefined, [200], { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' })
    else if (chance < 0.9) await this.#send('GET', path, undefined, [200], { 'accept-encoding': 'gzip' })
    else await this.#send('GET', random.pick(['/metrics', '/readyz', '/openapi/v3', '/apis', '/version']), undefined, [200])
  }

  async #watch(): Promise<void> {
    const { client, random } = this.#options
    const kind = random.pick(kinds)
    const query = random.next() < 0.5 ? 'resourceVersion=0&' : ''
    const path = `/api/v1/namespaces/${namespace}/${kind}?watch=1&${query}allowWatchBookmarks=true&timeoutSeconds=${1 + random.below(120)}`
    const stream = await client.watch(path).catch((error: unknown) => this.#fail(`watch: ${error}`))
    if (stream === undefined) return
    this.watches += 1
    this.#openWatches.add(stream)
    void stream.ended.then(() => {
      this.#events += stream.events.length
      this.#openWatches.delete(stream)
    })
    const [oldest] = this.#openWatches
    if (this.#openWatches.size > maxWatches || random.next() < 0.3) oldest?.close()
  }

  /** Creates a namespace with objects and deletes it. */
  async #createAndDeleteNamespace(): Promise<void> {
    const { random, client } = this.#options
    this.namespaces += 1
    const name = `passing-${this.namespaces}`
    await this.#send('POST', '/api/v1/namespaces', { metadata: { name } }, [201])
    for (let i = 0; i < 5; i += 1) {
      const kind = random.pick(kinds)
      await this.#send('POST', `/api/v1/namespaces/${name}/${kind}`, objectOf(kind, { name: `o${i}`, namespace: name }, random), [201])
    }
    await this.#send('DELETE', `/api/v1/namespaces/${name}`, undefined, [200])
    const until = performance.now() + 60_000
    for (;;) {
      const response = await client.get(`/api/v1/namespaces/${name}`).catch(() => undefined)
      if (response?.status === 404) return
      if (performance.now() > until) return this.#fail(`the namespace ${name} is not deleted`)
      await sleep(200)
    }
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    expected: readonly number[],
    headers: Readonly<Record<string, string>> = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {},
  ): Promise<void> {
    this.requests += 1
    try {
      const { status, text: response } = await this.#options.client.send({ method, path, headers, ...(body === undefined ? {} : { body }) })
      if (!expected.includes(status)) this.#fail(`${method} ${path}: ${status} ${response.slice(0, 200)}`)
    } catch (error) {
      this.#fail(`${method} ${path}: ${error}`)
    }
  }

  #fail(text: string): undefined {
    const message = text.replace(/\d{2,}/g, 'n')
    this.failures.set(message, (this.failures.get(message) ?? 0) + 1)
    return undefined
  }
}

function text(random: Random, maxLength: number): string {
  return random.next().toString(36).repeat(30).slice(0, random.below(maxLength))
}

function objectOf(
  kind: (typeof kinds)[number],
  { name, namespace }: { readonly name: string; readonly namespace: string },
  random: Random,
): unknown {
  const labels = { group: `g${random.below(5)}` }
  const { metadata } = configMapOf(name, { labels })
  if (kind === 'events') return { metadata, involvedObject: { namespace, kind: 'Pod', name }, message: text(random, 500), reason: 'Soak' }
  const value = text(random, random.below(50) === 0 ? 300 : 2000)
  return { metadata, data: { value: kind === 'secrets' ? Buffer.from(value).toString('base64') : value } }
}
