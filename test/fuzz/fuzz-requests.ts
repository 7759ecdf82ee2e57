// Almost valid requests in every encoding, with a few mutations.

import type { Random } from '../kit/seeded-random.js'
import { reviews, type Sample, samples } from './fuzz-samples.js'
import { hostileValue, hostileWord, mutateBytes, mutateValue, serializeUnusually, type Value } from './mutate-value.js'

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Values from the server, sent back mutated. */
export interface Seeds {
  readonly token: string
  /** Signed ServiceAccount token. */
  readonly accountToken: string
  /** Continue token. */
  readonly continueToken: string
  readonly resourceVersion: string
  /** Objects in Protobuf. */
  readonly protobufs: readonly { readonly collection: string; readonly bytes: Buffer }[]
}

export const protobufType = 'application/vnd.cluster.protobuf'

const pick = <T>(random: Random, choices: readonly T[]): T => random.pick(choices)
const escaped = (text: string): string => {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ed%a0%80'
  }
}

function mutated(value: Value, random: Random): Value {
  let result = value
  for (let i = random.below(3); i > 0; i--) result = mutateValue(result, random)
  return result
}

const selectors = [
  'a=b',
  'a!=b',
  'a in (b,c)',
  'a notin (b)',
  '!a',
  'a',
  'a==b,c',
  'metadata.name=cm',
  'metadata.namespace!=fuzz',
  'status.phase=Running',
]
const selector = (random: Random): string =>
  random.below(3) === 0 ? pick(random, selectors) : mutateBytes(Buffer.from(pick(random, selectors)), random).toString('latin1')

const accepts = [
  'application/json',
  'application/yaml',
  protobufType,
  '*/*',
  'application/json;as=Table;v=v1;g=meta.cluster.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.cluster.io',
]
const accept = (random: Random): string =>
  random.below(6) > 0
    ? pick(random, accepts)
    : mutateBytes(Buffer.from(pick(random, accepts).repeat(1 + random.below(3))), random)
        .toString('latin1')
        .replace(/[^\x20-\x7e]/g, '?')

function query(random: Random, seeds: Seeds, isRead = false): string {
  if (!isRead && random.below(3) > 0) return ''
  const makers: readonly (() => string)[] = [
    () => `labelSelector=${escaped(selector(random))}`,
    () => `fieldSelector=${escaped(selector(random))}`,
    () => `limit=${escaped(pick(random, ['1', '0', '-1', '500', '99999999999999999999', hostileWord(random)]))}`,
    () =>
      `continue=${escaped(random.below(4) === 0 ? seeds.continueToken : mutateBytes(Buffer.from(seeds.continueToken), random).toString('latin1'))}`,
    () =>
      `continue=${escaped(Buffer.from(serializeUnusually(mutated({ v: 'meta.cluster.io/v1', rv: 5, start: 'a' }, random), random)).toString('base64url'))}`,
    () => `resourceVersion=${escaped(pick(random, ['0', '1', seeds.resourceVersion, hostileWord(random)]))}`,
    () => `resourceVersionMatch=${escaped(pick(random, ['Exact', 'NotOlderThan', hostileWord(random)]))}`,
    () => `timeoutSeconds=${escaped(pick(random, ['1', '0', '-1', hostileWord(random)]))}`,
    () => `fieldManager=${escaped(hostileWord(random))}`,
    () => `fieldValidation=${escaped(pick(random, ['Strict', 'Warn', 'Ignore', hostileWord(random)]))}`,
    () => 'watch=1&timeoutSeconds=1',
    () => `pretty=${escaped(hostileWord(random))}`,
    () => `dryRun=${escaped(pick(random, ['All', hostileWord(random)]))}`,
    () => `gracePeriodSeconds=${escaped(pick(random, ['0', '-1', hostileWord(random)]))}`,
    () => `propagationPolicy=${escaped(pick(random, ['Foreground', 'Orphan', hostileWord(random)]))}`,
    () => `${escaped(hostileWord(random))}=${escaped(hostileWord(random))}`,
    () =>
      mutateBytes(Buffer.from('labelSelector=a%3Db&limit=1'), random)
        .toString('latin1')
        .replace(/[^\x21-\x7e]|[#]/g, '%'),
  ]
  return Array.from({ length: random.below(4) }, () => pick(random, makers)()).join('&')
}

/** Limited to the maximum request line; longer ones are rejected before parsing. */
const toPath = (text: string): string => text.replace(/[^\x21-\x7e]/g, '%').slice(0, 30_000)

function read(random: Random, seeds: Seeds): FuzzRequest {
  const { collection, object } = pick(random, samples)
  const name = (object['metadata'] as { readonly name: string }).name
  const base = pick(random, [
    collection,
    collection,
    `${collection}/${name}`,
    `${collection}/${name}/status`,
    `${collection}/${name}/scale`,
    '/apis',
    '/openapi/v2',
    '/version',
    '/metrics',
    '/readyz',
    collection.replace('/namespaces/fuzz', ''),
  ])
  const target = random.below(5) === 0 ? mutateBytes(Buffer.from(base), random).toString('latin1') : base
  return {
    method: pick(random, ['GET', 'GET', 'GET', 'HEAD', 'OPTIONS']),
    path: toPath(`${target}?${query(random, seeds, true)}`),
    headers: { accept: accept(random) },
  }
}

function body(random: Random, value: Value): { readonly type: string; readonly body: string | Buffer } {
  const encoding = random.below(5)
  if (encoding === 0) return { type: 'application/yaml', body: yamlOf(value, random) }
  if (encoding === 1) return { type: 'application/json', body: mutateBytes(Buffer.from(JSON.stringify(value) ?? ''), random) }
  return { type: random.below(12) === 0 ? accept(random) : 'application/json', body: serializeUnusually(value, random) }
}

/** Block style outside, flow style inside; sometimes with YAML features. */
function yamlOf(value: Value, random: Random): string | Buffer {
  const lines: string[] = random.below(8) === 0 ? ['%YAML 1.2', '---'] : []
  const write = (part: Value, indent: string): void => {
    if (typeof part !== 'object' || part === null || Array.isArray(part) || indent.length > 6) {
      lines.push(`${indent}${JSON.stringify(part)}`)
      return
    }
    for (const [key, inner] of Object.entries(part)) {
      const extra = random.below(12) === 0 ? pick(random, ['&a ', '*a ', '!!str ', '!x ', '| ', '>- ', '? ', '<<: ', '# ']) : ''
      lines.push(`${indent}${JSON.stringify(key)}: ${extra}`)
      write(inner, `${indent}  `)
    }
  }
  write(value, '')
  const text = lines.join('\n')
  return random.below(3) === 0 ? mutateBytes(Buffer.from(text), random) : text
}

function write(random: Random, seeds: Seeds): FuzzRequest {
  const { collection, object, isDry }: Sample = pick(random, samples)
  const name = (object['metadata'] as { readonly name: string }).name
  const isCreate = random.below(6) > 0
  const newMetadata: Value = { ...(object['metadata'] as { readonly [key: string]: Value }), name: `n${random.below(1e9)}` }
  const named = isCreate && random.below(4) > 0 ? { ...object, metadata: newMetadata } : object
  const { type, body: bytes } = body(random, mutated(named, random))
  const target = isCreate ? collection : `${collection}/${name}${pick(random, ['', '', '/status', '/scale'])}`
  const dry = random.below(4) === 0 && !isDry ? '' : 'dryRun=All&'
  return {
    method: isCreate ? 'POST' : 'PUT',
    path: toPath(`${target}?${dry}${query(random, seeds)}`),
    headers: { 'content-type': type, accept: accept(random) },
    body: bytes,
  }
}

/** Reviews, which are not stored. */
function review(random: Random, seeds: Seeds): FuzzRequest {
  const { path: target, object } = pick(random, reviews(seeds.accountToken))
  const { type, body: bytes } = body(random, mutated(object, random))
  return { method: 'POST', path: target, headers: { 'content-type': type, accept: accept(random) }, body: bytes }
}

function writeProtobuf(random: Random, seeds: Seeds): FuzzRequest {
  const { collection, bytes } = pick(random, seeds.protobufs)
  return {
    method: 'POST',
    path: `${collection}?dryRun=All`,
    headers: { 'content-type': protobufType, accept: accept(random) },
    body: mutateBytes(bytes, random),
  }
}

const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'none']
const pointers = [
  '',
  '/',
  '/metadata',
  '/metadata/labels/a',
  '/metadata/annotations/x~1y',
  '/data/a',
  '/spec/containers/0',
  '/spec/containers/-',
  '/spec/ports/0/port',
  '/a/b/c',
]

function patch(random: Random, seeds: Seeds): FuzzRequest {
  const { collection, object, isDry }: Sample = pick(random, samples)
  const name = (object['metadata'] as { readonly name: string }).name
  const pointer = (): Value =>
    random.below(5) === 0
      ? hostileValue(random)
      : random.below(3) === 0
        ? pick(random, pointers) + hostileWord(random)
        : pick(random, pointers)
  const operation = (): Value => ({
    op: random.below(9) === 0 ? hostileWord(random) : pick(random, operations),
    path: pointer(),
    from: pointer(),
    value: hostileValue(random),
  })
  const kinds: readonly (() => { readonly type: string; readonly value: Value })[] = [
    () => ({
      type: 'application/json-patch+json',
      value: random.below(9) === 0 ? hostileValue(random) : Array.from({ length: random.below(6) }, operation),
    }),
    () => ({ type: 'application/merge-patch+json', value: mutated(object, random) }),
    () => ({
      type: 'application/strategic-merge-patch+json',
      value: mutated(
        mutateValue({ ...object, $patch: pick(random, ['merge', 'replace', 'delete', 'x']), $retainKeys: ['a'] }, random),
        random,
      ),
    }),
    () => ({
      type: 'application/apply-patch+yaml',
      value: mutated(
        { apiVersion: collection.startsWith('/api/') ? 'v1' : collection.split('/').slice(2, 4).join('/'), kind: 'ConfigMap', ...object },
        random,
      ),
    }),
  ]
  const { type, value } = pick(random, kinds)()
  const text = type.endsWith('yaml')
    ? yamlOf(value, random)
    : random.below(4) === 0
      ? mutateBytes(Buffer.from(JSON.stringify(value) ?? ''), random)
      : serializeUnusually(value, random)
  const dry = random.below(3) === 0 && !isDry ? '' : '&dryRun=All'
  return {
    method: 'PATCH',
    path: toPath(
      `${collection}/${name}${pick(random, ['', '', '/status', '/scale'])}?fieldManager=f&force=${pick(random, ['1', '0', 'x'])}${dry}&${query(random, seeds)}`,
    ),
    headers: { 'content-type': type, accept: accept(random) },
    body: text,
  }
}

function remove(random: Random, seeds: Seeds): FuzzRequest {
  const { collection, object } = pick(random, samples)
  const name = (object['metadata'] as { readonly name: string }).name
  const options: Value = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'a' },
    propagationPolicy: 'Background',
    dryRun: ['All'],
  }
  const { type, body: bytes } = body(random, mutated(options, random))
  return {
    method: 'DELETE',
    path: toPath(`${collection}${random.below(3) === 0 ? '' : `/${name}`}?dryRun=All&${query(random, seeds)}`),
    headers: { 'content-type': type },
    body: bytes,
  }
}

function withBadCredentials(random: Random, seeds: Seeds): FuzzRequest {
  const jwt = (): string =>
    [{ alg: pick(random, ['none', 'RS256', 'HS256']) }, { sub: 'system:admin', exp: 2 ** 40 }]
      .map((part) => Buffer.from(serializeUnusually(mutated(part, random), random)).toString('base64url'))
      .join('.')
  /** One of the three JWT parts is mutated. */
  const forged = (): string => {
    const parts = seeds.accountToken.split('.')
    const at = random.below(3)
    const part = Buffer.from(parts[at] ?? '', 'base64url')
    const other =
      at < 2 && random.below(2) === 0
        ? serializeUnusually(mutated(JSON.parse(part.toString()) as Value, random), random)
        : mutateBytes(part, random)
    return parts.with(at, Buffer.from(other).toString('base64url')).join('.')
  }
  const token = pick(random, [
    seeds.token.slice(0, -1),
    seeds.accountToken,
    ...(seeds.accountToken === '' ? [] : [forged(), forged()]),
    `${seeds.token}x`,
    `${jwt()}.`,
    `${jwt()}.${'A'.repeat(random.below(400))}`,
    hostileWord(random),
    'a'.repeat(random.below(5000)),
  ])
  const { method, path: target, headers, body: bytes } = random.below(2) === 0 ? read(random, seeds) : write(random, seeds)
  const authorization = `${pick(random, ['Bearer', 'bearer', 'Basic', 'Bearer  '])} ${token}`.replace(/[^\x20-\x7e]/g, '?')
  return { method, path: target, headers: { ...headers, authorization }, ...(bytes === undefined ? {} : { body: bytes }) }
}

export function makeRequest(random: Random, seeds: Seeds): FuzzRequest {
  const request = pick(random, [read, read, write, write, write, review, writeProtobuf, patch, patch, patch, remove, withBadCredentials])(
    random,
    seeds,
  )
  if (random.below(15) !== 0) return request
  const unusualHeaders: Readonly<Record<string, string>> = {
    'accept-encoding': pick(random, ['gzip', 'gzip;q=0', 'br, gzip;q=x']),
    'content-encoding': pick(random, ['gzip', 'identity', 'x']),
    'impersonate-user': hostileWord(random).replace(/[^\x20-\x7e]/g, '?'),
    'audit-id': hostileWord(random).replace(/[^\x20-\x7e]/g, '?'),
    'if-none-match': '"x"',
    range: 'bytes=0-1',
  }
  const name = pick(random, Object.keys(unusualHeaders))
  return { ...request, headers: { ...request.headers, [name]: unusualHeaders[name] ?? '' } }
}
