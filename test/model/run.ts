// Runs sequences of random requests on a server and compares each response, list and watch with the model.

import type { ApiClient, ApiResponse } from '../kit/api-client.js'
import { expectStatus, until } from '../kit/fixtures.js'
import type { WatchStream } from '../kit/network/watch-stream.js'
import { randomFrom } from '../kit/seeded-random.js'
import { fieldSetOf } from './field-sets.js'
import { Generator, type ListRequest, type Request } from './generator.js'
import { type Kind, kinds } from './kinds.js'
import { type Entry, type Event, type Expected, Model, type Write } from './model.js'
import { canonical, type Fields, isFields, isList, parseValue, printValue } from './values.js'
import { widgetCrd } from './widget.js'

interface Sequence {
  readonly kind: Kind
  readonly requests: readonly Request[]
}

interface Mismatch {
  readonly request: Request | undefined
  readonly message: string
}

const watchedLabel = 'k1=x'

function randomSequence(seed: number, length: number): Sequence {
  const random = randomFrom(seed)
  const kind = random.pick(kinds)
  const generator = new Generator(random, kind)
  return { kind, requests: Array.from({ length }, () => generator.next()) }
}

/** Creates the custom kind and waits until it is served. */
export async function prepare(client: ApiClient): Promise<void> {
  const { path } = kinds[0] as Kind
  const body = printValue(widgetCrd as unknown as Fields)
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', body), 201)
  await until(
    () => client.get(path('default')),
    ({ status }) => status === 200,
  )
}

let namespaces = 0

/** Runs a sequence in a namespace of its own; returns the first mismatch. */
async function runSequence(client: ApiClient, { kind, requests }: Sequence): Promise<Mismatch | undefined> {
  const namespace = `model-${++namespaces}`
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
  const run = new Run(client, kind, namespace)
  await run.open()
  try {
    for (const request of requests) {
      const message = await run.send(request)
      if (message !== undefined) return { request, message }
    }
    const message = await run.checkWatches()
    return message === undefined ? undefined : { request: undefined, message }
  } finally {
    run.close()
  }
}

/** Leaves out requests as long as the sequence still fails. */
async function shorten(client: ApiClient, sequence: Sequence): Promise<Sequence> {
  let { requests } = sequence
  for (let i = requests.length - 1; i >= 0; i--) {
    const fewer = requests.toSpliced(i, 1)
    if ((await runSequence(client, { ...sequence, requests: fewer })) !== undefined) requests = fewer
  }
  return { ...sequence, requests }
}

/** Runs the random sequence of a seed; describes its first mismatch with the fewest requests that show it. */
export async function failureOf(client: ApiClient, seed: number, length: number): Promise<string | undefined> {
  const sequence = randomSequence(seed, length)
  if ((await runSequence(client, sequence)) === undefined) return undefined
  const shortest = await shorten(client, sequence)
  const mismatch = await runSequence(client, shortest)
  const requests = shortest.requests.map((request) => `  ${printValue(request as unknown as Fields)}`)
  return [`seed ${seed}, ${shortest.kind.name}: ${mismatch?.message ?? 'not seen again'}`, ...requests].join('\n')
}

class Run {
  readonly #client: ApiClient
  readonly #model: Model
  readonly #path: string
  /** Resource versions by object name, the newest last. */
  readonly #versions = new Map<string, string[]>()
  #lastVersion = 0n
  #watches: readonly { readonly stream: WatchStream; readonly label?: string }[] = []

  constructor(client: ApiClient, kind: Kind, namespace: string) {
    this.#client = client
    this.#model = new Model(kind)
    this.#path = kind.path(namespace)
  }

  async open(): Promise<void> {
    const { metadata } = expectStatus(await this.#client.get(this.#path), 200).json
    const path = `${this.#path}?watch=1&resourceVersion=${metadata.resourceVersion}`
    const selected = `${path}&labelSelector=${encodeURIComponent(watchedLabel)}`
    this.#watches = [{ stream: await this.#client.watch(path) }, { stream: await this.#client.watch(selected), label: watchedLabel }]
  }

  close(): void {
    for (const { stream } of this.#watches) stream.close()
  }

  async send(request: Request): Promise<string | undefined> {
    if (request.verb === 'list') return this.#compareList(request)
    const response = await this.#sendWrite(request)
    // The model reads the body's text, as the server does: an integer literal beyond int64 is a float64.
    const read = parseValue(printValue(request as unknown as Fields)) as unknown as Write
    return this.#compareWrite(this.#model.write(read), response, request.name)
  }

  #sendWrite(write: Write): Promise<ApiResponse> {
    const path = `${this.#path}/${write.name}`
    const manager = `fieldManager=${write.manager}`
    const patch = (type: string, query: string, body: string) => this.#client.patch(`${path}?${query}`, `application/${type}`, body)
    switch (write.verb) {
      case 'create':
        return this.#client.post(`${this.#path}?${manager}`, this.#bodyOf(write.name, write.body))
      case 'update':
        return this.#client.put(`${path}?${manager}`, this.#bodyOf(write.name, write.body, this.#versionOf(write.name, write.version)))
      case 'merge':
        return patch('merge-patch+json', manager, printValue(write.body))
      case 'json':
        return patch('json-patch+json', manager, printValue(write.operations as unknown as Fields))
      case 'apply':
        return patch('apply-patch+yaml', `${manager}&force=${write.force}`, this.#bodyOf(write.name, write.body))
      case 'delete':
        return this.#client.delete(path)
    }
  }

  #bodyOf(name: string, body: Fields, resourceVersion?: string): string {
    const { name: kind, apiVersion } = this.#model.kind
    const labels = isFields(body['metadata']) ? body['metadata'] : {}
    const metadata = { ...labels, name, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
    return printValue({ ...body, apiVersion, kind, metadata })
  }

  /** `stale`: the version before the newest one, if the object was written twice. */
  #versionOf(name: string, version: 'current' | 'stale' | 'absent'): string | undefined {
    const versions = this.#versions.get(name) ?? []
    if (version === 'absent' || versions.length === 0) return undefined
    return version === 'stale' ? (versions.at(-2) ?? versions.at(-1)) : versions.at(-1)
  }

  #compareWrite(expected: Expected, response: ApiResponse, name: string): string | undefined {
    const actual = parseValue(response.text) as Fields
    if (response.status !== expected.status)
      return `status ${response.status}, expected ${describe(expected)}: ${response.text.slice(0, 600)}`
    if (expected.status !== 200 && expected.status !== 201) return compareCauses(expected, actual)
    if (expected.entry === undefined) {
      this.#versions.delete(name)
      return undefined
    }
    return compareObject(this.#model.kind, expected.entry, actual) ?? this.#compareVersion(expected.entry, actual, name)
  }

  #compareVersion(entry: Entry, actual: Fields, name: string): string | undefined {
    const version = String((actual['metadata'] as Fields)['resourceVersion'])
    const versions = this.#versions.get(name) ?? []
    const isNew = versions.length < entry.writes
    if (isNew !== (versions.at(-1) !== version)) return `resourceVersion ${version} after ${versions.join()}, with ${entry.writes} writes`
    if (isNew && BigInt(version) <= this.#lastVersion) return `resourceVersion ${version} does not exceed ${this.#lastVersion}`
    if (!isNew) return undefined
    this.#lastVersion = BigInt(version)
    this.#versions.set(name, [...versions, version])
    return undefined
  }

  async #compareList({ limit, fieldName, label }: ListRequest): Promise<string | undefined> {
    const expected = [...this.#model.entries]
      .filter(([name, { object }]) => (fieldName === undefined || name === fieldName) && (label === undefined || matches(object, label)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    const selectors = [
      ...(fieldName === undefined ? [] : [`fieldSelector=metadata.name%3D${fieldName}`]),
      ...(label === undefined ? [] : [`labelSelector=${encodeURIComponent(label)}`]),
    ]
    let [from, token]: [number, string | undefined] = [0, undefined]
    do {
      const paging: string[] = [...(limit === undefined ? [] : [`limit=${limit}`]), ...(token === undefined ? [] : [`continue=${token}`])]
      const response = expectStatus(await this.#client.get(`${this.#path}?${[...selectors, ...paging].join('&')}`), 200)
      const list = parseValue(response.text) as Fields
      const items = (isList(list['items']) ? list['items'] : []) as readonly Fields[]
      const page = expected.slice(from, limit === undefined ? undefined : from + limit)
      const found = items.filter((item) => isOfModel(nameOf(item)))
      if (found.map(nameOf).join() !== page.map(([name]) => name).join())
        return `list has ${found.map(nameOf).join()}, expected ${page.map(([name]) => name).join()}`
      for (const [i, [, entry]] of page.entries()) {
        const problem = compareObject(this.#model.kind, entry, found[i] ?? {})
        if (problem !== undefined) return `list: ${problem}`
      }
      token = (list['metadata'] as Fields)['continue'] as string | undefined
      from += page.length
      const hasMore = from < expected.length
      if (this.#model.kind.isCustom || fieldName !== undefined)
        if ((token !== undefined && token !== '') !== hasMore && (selectors.length === 0 || fieldName !== undefined || hasMore))
          return `list has ${token === undefined ? 'no' : 'a'} continue token with ${expected.length - from} objects left`
    } while (token !== undefined && token !== '')
    return undefined
  }

  async checkWatches(): Promise<string | undefined> {
    for (const { stream, label } of this.#watches) {
      const expected = this.#model.events.flatMap((event) => selectedEvent(event, label))
      const ofModel = () => stream.events.filter(({ object }) => isOfModel(object.metadata.name))
      const events = await until(
        async () => ofModel(),
        ({ length }) => length >= expected.length,
      )
      const seen = events.map(({ type, object }) => `${type} ${object.metadata.name}`)
      if (seen.join() !== expected.join()) return `watch ${label ?? ''} saw ${seen.join()}, expected ${expected.join()}`
      const versions = events.map(({ object }) => BigInt(object.metadata.resourceVersion))
      if (versions.some((version, i) => i > 0 && version <= (versions[i - 1] ?? 0n)))
        return `versions of a watch do not grow: ${versions.join()}`
    }
    return undefined
  }
}

/** Names of the generator have one letter. Controllers create other objects in each namespace, with longer names. */
const isOfModel = (name: string): boolean => name.length === 1

const nameOf = (object: Fields): string => String((object['metadata'] as Fields | undefined)?.['name'])

/** The selectors of the generator. */
function matches(object: Fields, selector: string): boolean {
  const metadata = object['metadata']
  const labels = isFields(metadata) && isFields(metadata['labels']) ? metadata['labels'] : {}
  const value = labels['k1']
  const tests: Readonly<Record<string, boolean>> = {
    'k1=x': value === 'x',
    k1: value !== undefined,
    '!k1': value === undefined,
    'k1 in (x,y)': value === 'x' || value === 'y',
    'k1!=x': value !== 'x',
  }
  return tests[selector] === true
}

/** A watch with a selector sends ADDED and DELETED when an object begins and ceases to match. */
function selectedEvent({ type, name, entry, previous }: Event, label: string | undefined): string[] {
  const isIn = type !== 'DELETED' && (label === undefined || matches(entry.object, label))
  const wasIn = previous !== undefined && (label === undefined || matches(previous.object, label))
  if (!isIn && !wasIn) return []
  return [`${isIn ? (wasIn ? 'MODIFIED' : 'ADDED') : 'DELETED'} ${name}`]
}

function describe(expected: Expected): string {
  if ('causes' in expected && expected.causes !== undefined) return `${expected.status} ${JSON.stringify(expected.causes)}`
  if ('conflicts' in expected && expected.conflicts !== undefined) return `${expected.status} with ${expected.conflicts} conflicts`
  return String(expected.status)
}

function compareCauses(
  expected: Expected & { causes?: readonly { field: string; reason: string }[]; conflicts?: number },
  actual: Fields,
): string | undefined {
  const details = isFields(actual['details']) ? actual['details'] : {}
  const causes = (isList(details['causes']) ? details['causes'] : []) as readonly Fields[]
  if (expected.conflicts !== undefined && causes.length !== expected.conflicts)
    return `${causes.length} conflicts, expected ${expected.conflicts}: ${canonical(causes)}`
  if (expected.causes === undefined) return undefined
  const found = causes.map(({ field, reason }) => `${field} ${reason}`).toSorted()
  const wanted = expected.causes.map(({ field, reason }) => `${field} ${reason}`).toSorted()
  return found.join() === wanted.join() ? undefined : `causes ${found.join()}, expected ${wanted.join()}`
}

function compareObject(kind: Kind, entry: Entry, actual: Fields): string | undefined {
  const metadata = actual['metadata'] as Fields
  const labels = metadata['labels'] === undefined ? {} : { metadata: { labels: metadata['labels'] } }
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = actual
  const found = canonical({ ...labels, ...rest })
  if (found !== canonical(entry.object)) return `object ${found}, expected ${canonical(entry.object)}`
  if (kind.isCustom && metadata['generation'] !== entry.generation)
    return `generation ${metadata['generation']}, expected ${entry.generation}`
  const managed = (isList(metadata['managedFields']) ? metadata['managedFields'] : []) as readonly Fields[]
  const owners = managed.map(
    (each) => `${each['manager']}/${each['operation']}: ${[...fieldSetOf(each['fieldsV1'] as Fields)].toSorted().join(', ')}`,
  )
  const wanted = [...entry.managers].map(([name, set]) => `${name}: ${[...set].toSorted().join(', ')}`)
  return owners.toSorted().join('\n') === wanted.toSorted().join('\n')
    ? undefined
    : `managedFields\n${owners.toSorted().join('\n')}\nexpected\n${wanted.toSorted().join('\n')}`
}
